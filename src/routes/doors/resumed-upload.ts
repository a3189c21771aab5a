import type { Context } from "hono";
import { DoorBodyFault, type DoorDecoder } from "../../doors/decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../../doors/entry.ts";
import { DoorEntries } from "../../doors/shared/door-entries.ts";
import type { RecordReader } from "../../doors/shared/record-reader.ts";
import { BodyFailed, BodyStream, openBody } from "../../http/body-stream.ts";
import { type AppEnv, noteLimit } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { bodyOrRefuse, MEMORY_RETRY_SECONDS } from "../../http/resource.ts";
import type { Dedupe } from "../../keys/settings.ts";
import { COUNTED } from "../../limits/state.ts";
import { type Steps, streamScheduler, TurnMeter } from "../../platform/turns.ts";
import type { IngestResult } from "../../workspace/ingest-calls.ts";
import type { Idempotency } from "../../workspace/receipts.ts";
import { countIfRefused } from "../guards/workspace.ts";
import { EntrySender, refuseResult } from "../logs/send-entries.ts";
import { COUNTED_AS, ENCODINGS } from "./door-body.ts";
import { type DoorKey, requireDoorKey } from "./door-key.ts";
import { readerFor } from "./key-terms.ts";
import { hashOf, UploadPart } from "./upload-part.ts";

/** Bytes that are read at once: 8,000 entries at most. */
const STEP_BYTES = 32 * 1024;
/** Bytes of entries that wait for the result of a call, and of those that are not a batch yet. */
const WAITING_BYTES = 1024 * 1024;
/** Milliseconds of work on a step, and between two pauses, as a rule. */
const STEP_MS = 1;
const STRETCH_MS = 4;

/** A client that repeats what was not acknowledged with more behind it, so that no two attempts have the same body. */
export interface Resumed {
  /** Dotted event name of the route. */
  operation: string;
  /** Bytes of a body, inflated. */
  bodyBytes: number;
  decoder(sink: DoorEntrySink, meter: TurnMeter, request: { reader: RecordReader; now: number }): DoorDecoder;
  /** Returns what no other record of the client has. `null` if it has none, or if the whole record is compared. */
  idOf: ((entry: DoorEntry) => string | null) | null;
  /** Whether the client begins with the last acknowledged record when it is started again. */
  beginsWithLast: boolean;
}

/**
 * Stores a body in parts while it arrives. Each part is stored under the id of its first record, and a body skips the records
 * that an earlier one has stored under that id. So the parts of an interrupted or unacknowledged body are stored once,
 * whatever follows them in the next attempt, and a body may have any length.
 */
export async function serveResumed(c: Context<AppEnv>, resumed: Resumed): Promise<void> {
  c.set("route", { ...COUNTED_AS, requestId: c.get("requestId") });
  const key = await requireDoorKey(c);
  c.get("log").workspaceId = key.workspaceId;
  const upload = new ResumedUpload(c, key, resumed);
  await upload.begin();
  const body = await openBody(c.req.raw, resumed.bodyBytes, { encodings: ENCODINGS });
  try {
    if (body instanceof BodyStream) await upload.readStream(body);
    else await upload.readWhole(() => bodyOrRefuse(body, resumed.bodyBytes, ENCODINGS).bytes);
  } finally {
    upload.free();
    if (body instanceof BodyStream) {
      await body.drain();
      body.release();
    } else if (body.ok) body.lease.release();
  }
}

class ResumedUpload implements DoorEntrySink {
  readonly #c: Context<AppEnv>;
  readonly #key: DoorKey;
  readonly #resumed: Resumed;
  readonly #now = Date.now();
  readonly #meter = new TurnMeter();
  #decoder: DoorDecoder | null = null;
  #dedupe: Dedupe = "auto";
  #part: UploadPart | null = null;
  /** Records of a part whose beginning was not looked up yet. */
  #waiting: DoorEntry[] = [];
  /** The next records, after those that wait, that are stored already. */
  #skipped = 0;
  /** The last record so far, if it is to be a part of its own. */
  #last: DoorEntry | null = null;
  #isCounted = false;
  #onProgress = () => {};

  constructor(c: Context<AppEnv>, key: DoorKey, resumed: Resumed) {
    this.#c = c;
    this.#key = key;
    this.#resumed = resumed;
  }

  /** Ends the request if the key is refused. */
  async begin(): Promise<void> {
    const { settings } = await this.#newSender().terms(COUNTED);
    this.#dedupe = settings.dedupe;
    const reader = readerFor(settings.mapping, new URL(this.#c.req.url).searchParams);
    this.#decoder = this.#resumed.decoder(this, this.#meter, { reader, now: this.#now });
  }

  async readStream(stream: BodyStream): Promise<void> {
    const held = () => stream.held + (this.#decoder?.held ?? 0) + (this.#part?.entries.held ?? 0) + WAITING_BYTES;
    this.#onProgress = () => stream.resize(held());
    try {
      await stream.reserve(stream.held + 2 * WAITING_BYTES);
      for await (const chunk of stream.chunks()) {
        await this.#read(chunk);
        await stream.reserve(held());
      }
    } catch (error) {
      if (!(error instanceof BodyFailed)) throw error;
      const { reason } = error;
      await this.#counted(() => bodyOrRefuse({ ok: false, reason }, this.#resumed.bodyBytes));
    }
    await this.#end();
  }

  /** @param bytesOf returns the body, or ends the request */
  async readWhole(bytesOf: () => Uint8Array): Promise<void> {
    const bytes = await this.#counted(bytesOf);
    await this.#read(bytes);
    await this.#end();
  }

  free(): void {
    this.#part?.entries.take();
    this.#part = null;
  }

  add(entry: DoorEntry): void {
    const before = this.#last;
    this.#last = this.#resumed.beginsWithLast ? entry : null;
    const next = this.#resumed.beginsWithLast ? before : entry;
    if (next !== null) this.#pass(next);
  }

  reject(reason: string): void {
    this.#part?.entries.reject(reason);
  }

  #pass(entry: DoorEntry): void {
    const part = this.#part;
    if (part === null || part.isFull) {
      this.#waiting.push(entry);
      return;
    }
    const isAdded = part.add(entry);
    if (!isAdded) this.#waiting.push(entry);
    if (!isAdded || part.isComplete) this.free();
  }

  async #read(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      await this.#decode((decoder) => decoder.read(chunk.subarray(at, at + STEP_BYTES)));
      await this.#settle();
    }
  }

  async #end(): Promise<void> {
    await this.#decode((decoder) => decoder.end());
    await this.#settle();
    if (this.#part !== null) await this.#store(this.#part);
    if (this.#last !== null) this.#pass(this.#last);
    await this.#settle();
    if (this.#part !== null) await this.#store(this.#part);
    if (this.#isCounted) return;
    const sender = this.#newSender();
    await sender.terms(await sender.charge(1));
  }

  /** Stores a part that is full, and begins parts for the records that wait. */
  async #settle(): Promise<void> {
    for (;;) {
      const part = this.#part;
      if (part !== null && !part.isFull) return;
      if (part !== null) await this.#store(part);
      this.#skipped -= this.#waiting.splice(0, this.#skipped).length;
      const first = this.#waiting[0];
      if (first === undefined) return;
      await this.#begin(first);
    }
  }

  async #begin(first: DoorEntry): Promise<void> {
    const { operation, idOf } = this.#resumed;
    const text = idOf === null ? JSON.stringify(first) : idOf(first);
    const id = text === null || this.#dedupe === "never" ? null : hashOf(`${operation}\n${text}`);
    const { oldest, stored = null } = await this.#newSender().terms(COUNTED, id === null ? {} : { receipt: id });
    if (stored !== null && idOf !== null) {
      this.#skipped = stored.entries;
      return;
    }
    const entries = new DoorEntries(this.#now, this.#meter);
    await this.#run(entries.moveOlder(oldest));
    const isAlways = this.#dedupe === "always";
    this.#part = new UploadPart(entries, this.#meter, { id, stored, isCompared: idOf === null, isAlways });
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#run(this.#passAll(waiting));
  }

  *#passAll(waiting: readonly DoorEntry[]): Steps<void> {
    for (const entry of waiting) {
      this.#pass(entry);
      if (this.#meter.isDue) yield;
    }
  }

  async #store({ entries, idempotency, isStored }: UploadPart): Promise<void> {
    if (isStored) return this.free();
    const { records } = entries;
    const result = await this.#send(entries, idempotency);
    if (!result.ok && result.code === "IDEMPOTENCY_CONFLICT" && idempotency !== null) {
      // Another request has begun with the same record at the same time. Has it stored all of these?
      const { stored } = await this.#newSender().terms(COUNTED, { receipt: idempotency.key });
      const { body } = idempotency;
      if (!stored || Buffer.compare(body, stored.body.subarray(0, body.length)) !== 0) return refuseConcurrent();
      this.#isCounted = true;
      return this.free();
    }
    this.free();
    if (!result.ok) return refuseResult(this.#c, result);
    this.#isCounted = true;
    noteLimit(this.#c, result.limit);
    const { accepted, rejectedCount, duplicate } = result.receipt;
    if (!duplicate) return;
    this.#skipped = accepted + rejectedCount - records;
    if (this.#skipped < 0) refuseConcurrent();
  }

  async #send(entries: DoorEntries, idempotency: Idempotency | null): Promise<IngestResult> {
    const sender = this.#newSender();
    const facts = { settingsVersion: null, isDerived: true };
    const result = await sender.send(entries.finish(), idempotency, entries.oldest, facts);
    if (result.ok || result.code !== "TOO_OLD") return result;
    await this.#run(entries.moveOlder(result.oldest));
    return sender.send(entries.finish(), idempotency, entries.oldest, facts);
  }

  #newSender(): EntrySender {
    return new EntrySender(this.#c, this.#key, null, { isOpenKey: this.#key.isOpen });
  }

  async #decode(work: (decoder: DoorDecoder) => Steps<void>): Promise<void> {
    const decoder = this.#decoder;
    if (decoder === null) throw new Error("The upload has not begun.");
    await this.#counted(() => this.#run(work(decoder)));
  }

  /** Runs a step that may refuse the body. */
  #counted<T>(step: () => T | Promise<T>): Promise<T> {
    const { caller, requirement } = this.#newSender();
    return countIfRefused(this.#c, caller, requirement, async () => {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof DoorBodyFault)) throw error;
        return refuse("VALIDATION_ERROR", error.message);
      }
    });
  }

  /** Runs work in turns, one stretch of one body at a time. */
  async #run(steps: Steps<void>): Promise<void> {
    await streamScheduler.begin(STEP_MS);
    for (let isDone = false; !isDone; ) {
      isDone = steps.next().done === true;
      this.#onProgress();
      if (!this.#meter.isDue) continue;
      this.#meter.renew();
      await streamScheduler.take(STRETCH_MS);
    }
    streamScheduler.end();
  }
}

/** Ends a request of which another one has stored the beginning only. The next attempt finds what is stored. */
function refuseConcurrent(): never {
  const headers = { "Retry-After": MEMORY_RETRY_SECONDS };
  return refuse("SERVICE_UNAVAILABLE", "The same entries are being stored. Try again.", { headers });
}
