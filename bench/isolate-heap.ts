import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "undici";

/** Memory of one isolate, in MiB. */
export interface IsolateUse {
  /** Objects in V8's heap, including garbage that was not collected yet. */
  heap: number;
  /** Memory that the system has given to the heap. */
  committed: number;
  /** Memory of ArrayBuffers, which is outside the heap. */
  buffers: number;
}

/** https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-getHeapUsage, in bytes. */
interface HeapUsage {
  usedSize: number;
  totalSize: number;
  backingStorageSize: number;
}

const MIB = 1024 * 1024;

/** Measures one isolate of a running server (`INSPECTOR_PORT`) through the runtime's inspector. */
export class IsolateHeap {
  readonly #socket: WebSocket;
  readonly #replies = new Map<number, (result: unknown) => void>();
  #lastId = 0;
  #isSampling = false;
  #sampling: Promise<void> = Promise.resolve();
  #peak: IsolateUse = { heap: 0, committed: 0, buffers: 0 };

  /** @param name a part of the isolate's name, which is the name of its worker */
  static async connect(port: number, name: string): Promise<IsolateHeap> {
    const listed = await fetch(`http://127.0.0.1:${port}/json`);
    // SAFETY: the response of `/json` as the DevTools protocol defines it.
    const isolates = (await listed.json()) as { id: string; title: string; webSocketDebuggerUrl: string }[];
    const isolate = isolates.find(({ id, title }) => `${id} ${title}`.includes(name));
    if (!isolate) throw new Error(`No isolate is called ${name}: ${JSON.stringify(isolates)}`);
    const socket = new WebSocket(isolate.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new IsolateHeap(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      // SAFETY: responses to the requests below, in the shape of the protocol.
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id === undefined) return;
      this.#replies.get(id)?.(result);
      this.#replies.delete(id);
    };
  }

  async use(): Promise<IsolateUse> {
    // SAFETY: the shape that the protocol defines for this method.
    const { usedSize, totalSize, backingStorageSize } = (await this.#ask("Runtime.getHeapUsage")) as HeapUsage;
    return { heap: usedSize / MIB, committed: totalSize / MIB, buffers: backingStorageSize / MIB };
  }

  /** Collects all garbage and returns what is left. */
  async live(): Promise<IsolateUse> {
    await this.#ask("HeapProfiler.collectGarbage");
    return this.use();
  }

  /** Samples until `stop`, as often as the isolate responds and at most once in `everyMs`. */
  start(everyMs: number): void {
    this.#peak = { heap: 0, committed: 0, buffers: 0 };
    this.#isSampling = true;
    this.#sampling = (async () => {
      while (this.#isSampling) {
        const use = await this.use();
        if (use.heap + use.buffers > this.#peak.heap + this.#peak.buffers) this.#peak = use;
        await wait(everyMs);
      }
    })();
  }

  /** @returns the largest sample */
  async stop(): Promise<IsolateUse> {
    this.#isSampling = false;
    await this.#sampling;
    return this.#peak;
  }

  close(): void {
    this.#socket.close();
  }

  #ask(method: string): Promise<unknown> {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method }));
    return new Promise((resolve) => this.#replies.set(id, resolve));
  }
}
