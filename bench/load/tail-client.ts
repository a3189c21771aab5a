import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { FrameReader } from "./frame-reader.ts";
import type { KnownFrame, KnownFrames } from "./known-frames.ts";

/** Entries between two acknowledgements. A hundred tails share 10 MiB, so each may have some 220 entries in flight. */
const ACK_EVERY = 50;
const TEXT = 1;
const CLOSE = 8;

/** A buffer that all sockets read into in turn. None keeps what it has read. */
const CHUNK = Buffer.allocUnsafeSlow(512 * 1024);
const HEAD_END = "\r\n\r\n";

interface ServiceFrame {
  type?: unknown;
  seq?: unknown;
  entries?: { seq?: unknown }[];
}

/**
 * A tail with minimal cost that still verifies what it receives: each entry of the project from the first one on, once
 * and in order. Anything else ends it.
 */
export class TailClient {
  readonly #socket: Socket;
  readonly #known: KnownFrames;
  readonly #frames: FrameReader;
  #head: string | null = "";
  #match: KnownFrame | null = null;
  #acked = 0;
  /** The tail has every entry up to this `seq`. */
  last = 0;
  /** Code and reason of the service's close, or what was wrong with its frames; `null` while it is open. */
  ended: string | null = null;
  /** Called with the last `seq` of each frame of entries. */
  onEntries: (seq: number) => void = () => {};

  private constructor(origin: string, known: KnownFrames) {
    const { hostname, port } = new URL(origin);
    this.#known = known;
    this.#frames = new FrameReader({
      expected: (opcode, length) => {
        this.#match = opcode === TEXT ? known.find(this.last, length) : null;
        return this.#match?.payload ?? null;
      },
      take: (opcode, payload) => this.#take(opcode, payload),
    });
    const callback = (bytes: number) => {
      this.#read(CHUNK.subarray(0, bytes));
      return true;
    };
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer: CHUNK, callback } });
    this.#socket.on("error", (error) => this.#end(error.message));
    this.#socket.on("close", () => this.#end("the connection was lost"));
  }

  static async open(origin: string, path: string, authorization: string, known: KnownFrames): Promise<TailClient> {
    const client = new TailClient(origin, known);
    await once(client.#socket, "connect");
    client.#socket.write(
      [
        `GET ${path} HTTP/1.1`,
        `Host: ${new URL(origin).host}`,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
        `Authorization: ${authorization}`,
        "\r\n",
      ].join("\r\n"),
    );
    await once(client.#socket, "upgraded");
    return client;
  }

  end(): void {
    this.#socket.destroy();
  }

  #end(reason: string): void {
    this.ended ??= reason;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    try {
      if (this.#head === null) this.#frames.read(chunk);
      else this.#readHead(chunk.toString("latin1"));
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  /** The response's head. `latin1` preserves the bytes of frames that follow it. */
  #readHead(text: string): void {
    const head = this.#head + text;
    const end = head.indexOf(HEAD_END);
    this.#head = head;
    if (end < 0) return;
    if (!head.startsWith("HTTP/1.1 101")) {
      this.#socket.emit("error", new Error(`The tail was refused: ${head.split("\r\n")[0]}`));
      return;
    }
    this.#head = null;
    this.#socket.emit("upgraded");
    this.#frames.read(Buffer.from(head.slice(end + HEAD_END.length), "latin1"));
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === CLOSE) this.#end(`${payload.readUInt16BE(0)} ${payload.toString("utf8", 2)}`);
    if (opcode !== TEXT) return;
    const known = payload === this.#match?.payload ? this.#match : this.#parse(payload);
    if (known === null) return;
    this.last = known.through;
    this.onEntries(this.last);
    if (this.last - this.#acked >= ACK_EVERY) this.#ack(this.last);
  }

  /** @returns `null` for a frame without entries */
  #parse(payload: Buffer): KnownFrame | null {
    // SAFETY: the service sends a JSON object, and every member is checked before it is used.
    const frame = JSON.parse(payload.toString("utf8")) as ServiceFrame;
    if (frame.type === "logs") return this.#known.add(this.last, payload, frame.entries ?? []);
    if (frame.type !== "caught-up") throw new Error(payload.toString("utf8"));
    if (frame.seq !== this.last) throw new Error(`caught up with ${frame.seq}, and has come to ${this.last}`);
    return null;
  }

  #ack(seq: number): void {
    this.#acked = seq;
    const text = Buffer.from(JSON.stringify({ type: "ack", seq }));
    // A mask of zeros leaves the text unchanged.
    this.#socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  }
}
