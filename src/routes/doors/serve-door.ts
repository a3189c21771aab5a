import { createHash, type Hash } from "node:crypto";
import type { Context } from "hono";
import { DoorBodyFault, type DoorDecoder } from "../../doors/decoder.ts";
import { type BodyResult, SMALL_BYTES } from "../../http/body.ts";
import { BodyFailed, BodyStream, openBody } from "../../http/body-stream.ts";
import { type AppEnv, noteLimit } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { bodyOrRefuse, mediaType, refuseForMemory } from "../../http/resource.ts";
import { acceptedKeys } from "../../keys/api-key.ts";
import { COUNTED } from "../../limits/state.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import type { IngestBody } from "../../logs/ingest/ingest-body.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import { inTurns, type Steps, streamScheduler, TurnMeter } from "../../platform/turns.ts";
import type { IngestResult } from "../../workspace/ingest-calls.ts";
import { countIfRefused } from "../guards/workspace.ts";
import { EntrySender, refuseResult, STAGING } from "../logs/send-entries.ts";
import type { Door } from "./door.ts";
import { COUNTED_AS, DECODING_BYTES, ENCODINGS, KeptChunks, withoutEncoding } from "./door-body.ts";
import { idempotencyOf } from "./door-idempotency.ts";
import { type DoorKey, pathWithoutKey, requireDoorKey } from "./door-key.ts";
import { DEFAULT_TERMS, knownTerms, type Terms } from "./key-terms.ts";
import { beginReading, dropsOf, endReading, type Reading, repeatsOf } from "./reading.ts";

/** Milliseconds for which the batches of a small body wait for memory. */
const MEMORY_WAIT_MS = 10_000;
/** Milliseconds of work on a chunk of 128 KiB, and between two pauses, as a rule. */
const CHUNK_MS = 2;
const STRETCH_MS = 4;
/** Calls of the workspace for one request: other settings, other retention, known records, once more of each, another key. */
const MAX_CALLS = 7;

/** Stores the entries of a request in the protocol of another client. @param pattern of the route */
export async function serveDoor<D extends DoorDecoder>(
  c: Context<AppEnv>,
  door: Door<D>,
  pattern: string,
): Promise<Response> {
  c.set("route", { ...COUNTED_AS, requestId: c.get("requestId") });
  const key = await requireDoorKey(c, door.keyInBody);
  c.get("log").workspaceId = key.workspaceId;
  const served = new DoorServing(c, door, key, pattern);
  try {
    const body = await openBody(withoutEncoding(c.req.raw, door.ignoredEncoding), INGEST_LIMITS.linesBodyBytes, {
      encodings: ENCODINGS,
      // A body may cost a thousand times what it costs to send, so its key must be valid.
      beforeLarge: async () => {
        if (!acceptedKeys.has(key.hash)) await served.learnTerms();
      },
    });
    return await (body instanceof BodyStream ? served.storeStream(body) : served.storeWhole(body));
  } finally {
    await served.end();
  }
}

class DoorServing<D extends DoorDecoder> {
  readonly #c: Context<AppEnv>;
  readonly #door: Door<D>;
  readonly #key: DoorKey;
  readonly #sender: EntrySender;
  readonly #now = Date.now();
  readonly #meter = new TurnMeter();
  /** Over media type, path, query and body. */
  readonly #hash: Hash;
  #reading: Reading<D> | null = null;
  /** The terms that the object has returned. They hold for this request even if they change now. */
  #terms: Terms | null = null;
  /** Whether another body had the id that all attempts of this request share. */
  #isIdTaken = false;

  constructor(c: Context<AppEnv>, door: Door<D>, key: DoorKey, pattern: string) {
    this.#c = c;
    this.#door = door;
    this.#key = key;
    this.#sender = new EntrySender(c, key, null, { isOpenKey: key.isOpen });
    const source = `${mediaType(c.req.header("Content-Type"))}\n${pathWithoutKey(c, pattern)}\n`;
    this.#hash = createHash("sha256").update(`door\n${source}`);
  }

  /** Asks the workspace for the terms of the key. Ends the request if the key is refused. */
  async learnTerms(): Promise<Terms> {
    this.#terms = await this.#sender.terms(COUNTED);
    knownTerms.set(this.#key.hash, this.#terms);
    return this.#terms;
  }

  async storeWhole(body: BodyResult): Promise<Response> {
    const { bytes, lease } = await this.#counted(() => bodyOrRefuse(body, INGEST_LIMITS.linesBodyBytes, ENCODINGS));
    try {
      this.#hash.update(bytes);
      const read = () => this.#counted(() => this.#readWhole(bytes, lease));
      await read();
      return await this.#send(read, (steps) => inTurns(steps, this.#meter));
    } finally {
      detachBuffer(bytes);
      lease.release();
    }
  }

  async storeStream(stream: BodyStream): Promise<Response> {
    const kept = new KeptChunks();
    if (this.#terms !== null) kept.drop();
    const run = (steps: Steps<void>) => this.#runInStretches(steps, stream, kept);
    const decode = (steps: Steps<void>) => this.#counted(() => run(steps));
    const readKept = async () => {
      await this.#counted(() => this.#begin());
      for (const chunk of kept.chunks) await decode(this.#read(chunk));
    };
    try {
      await this.#counted(() => this.#begin());
      await this.#receive(stream, kept, readKept, decode);
      await decode(endReading(this.#current));
      const readAgain = async () => {
        await readKept();
        await decode(endReading(this.#current));
      };
      return await this.#send(readAgain, run);
    } catch (error) {
      await stream.drain();
      throw error;
    } finally {
      kept.drop();
      stream.release();
    }
  }

  /** Frees what the request holds and has staged. */
  async end(): Promise<void> {
    this.#reading?.entries.take();
    await this.#sender.discard();
  }

  get #current(): Reading<D> {
    if (this.#reading === null) throw new Error("The request is not read yet.");
    return this.#reading;
  }

  /** Starts to read the body from its beginning. */
  #begin(): void {
    this.#reading?.entries.take();
    const terms = this.#terms ?? knownTerms.get(this.#key.hash) ?? DEFAULT_TERMS;
    this.#reading = beginReading(this.#c, this.#door, terms, { now: this.#now, meter: this.#meter });
  }

  #read(chunk: Uint8Array): Steps<void> {
    this.#current.entries.receive(chunk.length);
    return this.#current.decoder.read(chunk);
  }

  async #readWhole(bytes: Uint8Array, lease: MemoryLease): Promise<void> {
    this.#begin();
    const { decoder, entries } = this.#current;
    // What records share is stored with each of them, so the entries may be much larger than the body.
    const fits = () => lease.resize(bytes.length + decoder.held + entries.held);
    entries.receive(bytes.length);
    await inTurns(decoder.read(bytes), this.#meter, fits);
    await inTurns(endReading(this.#current), this.#meter, fits);
    const held = bytes.length + entries.held;
    if (held > 2 * SMALL_BYTES && !(await lease.grow(held, MEMORY_WAIT_MS))) refuseForMemory();
  }

  /** @param readKept reads the beginning of the body again @param decode runs work of the decoder */
  async #receive(
    stream: BodyStream,
    kept: KeptChunks,
    readKept: () => Promise<void>,
    decode: (steps: Steps<void>) => Promise<void>,
  ): Promise<void> {
    try {
      await stream.reserve(stream.held + DECODING_BYTES);
      for await (const chunk of stream.chunks()) {
        this.#hash.update(chunk);
        if (!kept.add(chunk)) {
          const { terms } = this.#current;
          if (this.#terms === null && (await this.learnTerms()).settingsVersion !== terms.settingsVersion)
            await readKept();
          kept.drop();
        }
        await decode(this.#read(chunk));
        const { entries } = this.#current;
        await stream.reserve(this.#heldOf(stream, kept));
        if (entries.failure !== null) return await stream.drain();
        if (entries.batchBytes > STAGING.callBytes) await this.#stage(stream, kept);
      }
    } catch (error) {
      if (!(error instanceof BodyFailed)) throw error;
      const { reason } = error;
      await this.#counted(() => bodyOrRefuse({ ok: false, reason }, INGEST_LIMITS.linesBodyBytes));
    }
  }

  /** Sends the batches so far to the object, outside of what readers see. */
  async #stage(stream: BodyStream, kept: KeptChunks): Promise<void> {
    // What is staged cannot be read again with other settings.
    if (!kept.isDropped) return;
    const { entries } = this.#current;
    for (let isStored = false; !isStored && entries.batchBytes > 0; ) {
      const staged = await this.#sender.stage(entries.batches(), entries.oldest, entries.idsOf("batches"));
      ({ isStored } = staged);
      if (isStored) entries.take();
      else if (staged.known.length > 0) {
        await this.#runInStretches(entries.leaveOut(staged.known.map((at) => at + entries.taken)), stream, kept);
      }
      if (entries.oldest === null) {
        await this.#runInStretches(entries.moveOlder(staged.oldest), stream, kept);
      }
    }
    stream.resize(this.#heldOf(stream, kept));
  }

  #heldOf(stream: BodyStream, kept: KeptChunks): number {
    const { decoder, entries } = this.#current;
    return stream.held + kept.held + decoder.held + entries.held + DECODING_BYTES;
  }

  /** Runs work in turns, one stretch of one body at a time, with the lease up to date. */
  async #runInStretches(steps: Steps<void>, stream: BodyStream, kept: KeptChunks): Promise<void> {
    await streamScheduler.begin(CHUNK_MS);
    for (let isDone = false; !isDone; ) {
      isDone = steps.next().done === true;
      stream.resize(this.#heldOf(stream, kept));
      if (!this.#meter.isDue) continue;
      this.#meter.renew();
      await streamScheduler.take(STRETCH_MS);
    }
    streamScheduler.end();
  }

  /** Stores what was read, and answers. @param readAgain reads the body from its beginning */
  async #send(readAgain: () => Promise<void>, run: (steps: Steps<void>) => Promise<void>): Promise<Response> {
    const digest = new Uint8Array(this.#hash.digest());
    for (let call = 1; ; call++) {
      const { entries, terms } = this.#current;
      const body = entries.finish();
      if (entries.records === 0 && body.failure === null) return await this.#answerEmpty();
      const { idempotency, isDerived } = await this.#counted(() =>
        idempotencyOf(this.#c, this.#door, this.#current, { digest, isIdTaken: this.#isIdTaken }),
      );
      const facts = { settingsVersion: this.#terms === null ? terms.settingsVersion : null, isDerived };
      const repeats = repeatsOf(this.#door, this.#current);
      const result = await this.#sender.send(body, idempotency, entries.oldest, facts, repeats);
      if (result.ok || call === MAX_CALLS) return this.#answer(result, body);
      if (result.code === "STALE_SETTINGS") {
        this.#terms = result;
        knownTerms.set(this.#key.hash, result);
        await readAgain();
      } else if (result.code === "TOO_OLD") await run(entries.moveOlder(result.oldest));
      // Those that are staged cannot be left out. The repetition of the request finds them.
      else if (result.code === "KNOWN_RECORDS" && (result.known[0] ?? 0) >= entries.taken) {
        await run(entries.leaveOut(result.known));
      } else if (result.code === "IDEMPOTENCY_CONFLICT" && isDerived && !this.#isIdTaken) this.#isIdTaken = true;
      else return this.#answer(result, body);
    }
  }

  /** Counts a request without records. */
  async #answerEmpty(): Promise<Response> {
    await this.#sender.terms(await this.#sender.charge(1), dropsOf(this.#door, this.#current));
    return this.#success(0, false);
  }

  #answer(result: IngestResult, body: IngestBody): Response | Promise<Response> {
    const fields = this.#c.get("log");
    if (result.ok) {
      noteLimit(this.#c, result.limit);
      const { accepted, rejectedCount, duplicate } = result.receipt;
      const merged = duplicate ? 0 : this.#current.entries.mergedIndexes.length;
      Object.assign(fields, { accepted, rejected: rejectedCount, duplicate, ...(merged > 0 && { merged }) });
      return this.#success(accepted + merged, duplicate || (accepted === 0 && merged > 0));
    }
    if (result.code !== "VALIDATION_ERROR") return refuseResult(this.#c, result);
    noteLimit(this.#c, result.limit);
    fields.rejected = body.rejectedCount;
    return body.failure === null ? this.#success(0, false) : refuse("PAYLOAD_TOO_LARGE", body.failure.message);
  }

  #success(accepted: number, isDuplicate: boolean): Response {
    const { entries, decoder } = this.#current;
    const { rejected } = entries.finish();
    const { records, rejectedIndexes, mergedIndexes } = entries;
    const outcome = { records, accepted, rejected, rejectedIndexes, mergedIndexes, isDuplicate };
    return this.#door.success(outcome, decoder, this.#c);
  }

  /** Runs a step that may refuse the request, which is counted then, after faults of its key. */
  #counted<T>(step: () => T | Promise<T>): Promise<T> {
    const { caller, requirement } = this.#sender;
    return countIfRefused(this.#c, caller, requirement, async () => {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof DoorBodyFault)) throw error;
        return refuse("VALIDATION_ERROR", error.message);
      }
    });
  }
}
