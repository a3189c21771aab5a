import { encodeBody } from "../../../src/logs/batch.ts";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { ALL_LEVELS_MASK } from "../../../src/logs/query/filter.ts";
import { ISOLATE_BUDGET } from "../../../src/platform/isolate-memory.ts";
import { MemoryPool } from "../../../src/platform/memory-pool.ts";
import type { AuthorityCheck } from "../../../src/tail/authority.ts";
import { readTailFilter, type TailFilter, tailFilterText } from "../../../src/tail/filter.ts";
import { entriesOf, framesOf, linesOfBatch } from "../../../src/tail/frames.ts";
import type { TailBatch } from "../../../src/tail/groups.ts";
import type { Clock, TailHost } from "../../../src/tail/host.ts";
import { TailHub } from "../../../src/tail/hub.ts";
import { TAIL_QUOTA, type TailQuota } from "../../../src/tail/limits.ts";
import { toLogFilter } from "../../../src/tail/log-filter.ts";
import { TailShares } from "../../../src/tail/shares.ts";
import { type NewTail, Tail, type TailSocket } from "../../../src/tail/tail.ts";
import { bodyOf, type TestEntry } from "../query/store.ts";

export const EVERYTHING: TailFilter = {
  levelMask: ALL_LEVELS_MASK,
  categories: null,
  types: null,
  session: null,
  traceId: null,
  search: null,
  rest: null,
};

export const projectIdOf = (project: number) => `proj_${String(project).padStart(12, "0")}`;

/** The client's side of a socket: received frames, and what outlives the object. */
export class FakeSocket implements TailSocket {
  readonly frames: { type: string; entries?: { seq: number; message: string }[]; seq?: number; code?: string }[] = [];
  closed: { code: number; reason: string } | null = null;
  attachment: unknown = null;
  isBroken = false;
  /** The client has disconnected: an object that restarts no longer has the socket. */
  isGone = false;

  send(text: string): void {
    if (this.isBroken) throw new TypeError("Can't call WebSocket send() after close().");
    this.frames.push(JSON.parse(text));
  }

  close(code: number, reason: string): void {
    this.closed = { code, reason };
  }

  serializeAttachment(value: unknown): void {
    this.attachment = structuredClone(value);
  }

  get seqs(): number[] {
    return this.frames.flatMap(({ entries }) => entries?.map(({ seq }) => seq) ?? []);
  }
}

/** What the objects of an isolate share. */
export class FakeIsolate {
  now = 0;
  readonly pool: MemoryPool;
  readonly shares: TailShares;
  objects = 0;

  /** @param capacity bytes for all tails */
  constructor(capacity: number = ISOLATE_BUDGET.tails) {
    this.pool = new MemoryPool({ capacity, maxWaiting: 0, now: () => this.now });
    this.shares = new TailShares(this.pool, () => this.now);
  }
}

/** A workspace object as tails use it. All asynchronous steps wait for `turn`, so that a test decides their order. */
export class FakeObject {
  hub: TailHub;
  readonly isolate: FakeIsolate;
  quota: TailQuota = TAIL_QUOTA;
  /** The tail of each socket since the object's last start. */
  readonly tails = new Map<FakeSocket, Tail>();
  readonly batches: TailBatch[] = [];
  readonly failures: unknown[] = [];
  readonly closed: string[] = [];
  /** How often the object aborted itself. */
  abandoned = 0;
  readonly backlogs: { after: number; through: number }[] = [];
  /** Milliseconds of each requested pause. */
  readonly paused: number[] = [];
  ruling: (tail: Tail) => AuthorityCheck = (tail) => ({ ok: true, expiresAt: tail.expiresAt });
  renewed: (tail: Tail) => Promise<AuthorityCheck> = async () => ({ ok: true, expiresAt: null });
  /** Batches of one step of a tail that is behind. */
  stepBatches = 2;
  stepCharacters = Number.POSITIVE_INFINITY;
  isBacklogBroken = false;
  readonly #waiting: (() => void)[] = [];
  /** Pauses longer than those of a delivery; `lapse` ends them. */
  #pauses: (() => void)[] = [];
  #life = 0;
  readonly #id: string;

  constructor(isolate = new FakeIsolate()) {
    this.isolate = isolate;
    this.#id = `object ${isolate.objects++}`;
    this.hub = this.#newHub();
  }

  get now(): number {
    return this.isolate.now;
  }

  set now(now: number) {
    this.isolate.now = now;
  }

  /** Loses the object's memory. Waiting steps never continue. */
  evict(tails: readonly FakeSocket[]): void {
    this.#life++;
    this.hub = this.#newHub();
    for (const socket of tails) {
      if (socket.isGone) continue;
      const tail = Tail.restore(socket, socket.attachment);
      this.tails.set(socket, tail);
      this.hub.restore(tail);
    }
  }

  commit(project: number, entries: readonly TestEntry[]): void {
    const firstSeq = this.lastSeq(project) + 1;
    const body = bodyOf(entries);
    const batch = { count: entries.length, size: body.length, ...encodeBody(body) };
    const committed = { project, firstSeq, receivedAt: 1_800_000_000_000 + this.batches.length, batch };
    this.batches.push(committed);
    this.hub.committed([committed]);
  }

  lastSeq(project: number): number {
    const last = this.batches.findLast((committed) => committed.project === project);
    return last ? last.firstSeq + last.batch.count - 1 : 0;
  }

  open(tail: Partial<NewTail> = {}): { tail: Tail; socket: FakeSocket } {
    const socket = new FakeSocket();
    const made = Tail.open(
      socket,
      {
        project: 1,
        projectId: projectIdOf(tail.project ?? 1),
        authority: { kind: "key", hash: "k" },
        filter: tailFilterText(EVERYTHING),
        expiresAt: null,
        requestId: "req_tail",
        sent: this.lastSeq(tail.project ?? 1),
        ...tail,
      },
      this.now,
    );
    this.tails.set(socket, made);
    this.hub.add(made);
    return { tail: made, socket };
  }

  /** Lets the oldest waiting step continue. */
  async turn(): Promise<void> {
    this.#waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async settle(): Promise<void> {
    while (this.#waiting.length > 0) await this.turn();
    await this.turn();
    if (this.#waiting.length > 0) await this.settle();
  }

  /** Pauses of a second and more that have not ended. While there is one, an object does not hibernate. */
  get pending(): number {
    return this.#pauses.length;
  }

  /** Disconnects the client of a socket. */
  gone(socket: FakeSocket): void {
    const tail = this.tails.get(socket);
    socket.isGone = true;
    if (tail) this.hub.gone(tail);
  }

  /** Advances the clock, and runs everything that follows. */
  async lapse(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    const pauses = this.#pauses;
    this.#pauses = [];
    for (const end of pauses) end();
    await this.settle();
  }

  #newHub(): TailHub {
    const life = this.#life;
    const share = this.isolate.shares.join(this.#id, this);
    const waited = async () => {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      // A step of an object that has ended never continues.
      if (life !== this.#life) await new Promise(() => {});
    };
    const clock: Clock = {
      now: () => this.now,
      pause: (milliseconds) => {
        this.paused.push(milliseconds);
        return milliseconds < 1000 ? waited() : new Promise<void>((resolve) => this.#pauses.push(resolve));
      },
    };
    const host: TailHost = {
      durable: waited,
      share,
      quota: () => this.quota,
      lastSeq: (project) => this.lastSeq(project),
      backlog: async (tail, most) => {
        await waited();
        if (this.isBacklogBroken) throw new Error("D1 is down.");
        const { sent, project, filter } = tail;
        const own = this.batches.filter((each) => each.project === project);
        const wanted = own
          .filter(({ firstSeq, batch }) => firstSeq + batch.count > sent + 1)
          .slice(0, this.stepBatches);
        const last = wanted.at(-1);
        const until = last ? last.firstSeq + last.batch.count - 1 : sent;
        this.backlogs.push({ after: sent, through: until });
        const matcher = new BatchMatcher(toLogFilter(readTailFilter(filter), null));
        const units = wanted.map(({ batch, ...fields }) => linesOfBatch({ ...fields, ...batch }));
        const entries = entriesOf(units, matcher, projectIdOf(project), { after: sent, until }, null);
        const framed = framesOf(entries, until, { entries: most, characters: this.stepCharacters });
        await waited();
        return framed;
      },
      mayRead: (tail) => this.ruling(tail),
      renewed: async (tail) => {
        await waited();
        return this.renewed(tail);
      },
      abort: () => {
        this.abandoned++;
        share.leave();
        for (const socket of this.tails.keys()) socket.isGone = true;
        this.evict([]);
      },
      report: (event) => {
        if (event.event === "closed") this.closed.push(`${event.code} ${event.reason}`);
        else this.failures.push(event.error);
      },
    };
    return new TailHub(host, clock);
  }
}

export function entry(message: string, level: TestEntry["level"] = "info"): TestEntry {
  return { timestamp: 1_790_000_000_000, level, category: "custom", type: "log", message };
}

export const entriesNumbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => entry(`m${from + i}`));
