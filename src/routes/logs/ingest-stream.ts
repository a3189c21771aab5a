import { createHash } from "node:crypto";
import type { Context } from "hono";
import { BodyFailed, type BodyStream } from "../../http/body-stream.ts";
import type { AppEnv } from "../../http/context.ts";
import { bodyOrRefuse, idempotencyKeyHash } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { LinesReader } from "../../logs/ingest/lines-reader.ts";
import { type Steps, streamScheduler, TurnMeter } from "../../platform/turns.ts";
import type { Idempotency } from "../../workspace/receipts.ts";
import { countIfRefused } from "../guards/workspace.ts";
import { answerEntries, type EntrySender, STAGING } from "./send-entries.ts";

/** Bytes that parsing takes beside the body's buffer and the batches: a few entries, or one large one. */
const PARSING_BYTES = 256 * 1024;
/** Milliseconds of work on a chunk of 128 KiB, and between two pauses, as a rule. */
const CHUNK_MS = 2;
const STRETCH_MS = 4;
/** The body's buffer, before the first line is read. */
const BUFFER_BYTES = 768 * 1024;

/** Stores the lines of a large body while it arrives. All entries become visible at its end, or none does. */
export async function ingestStream(
  c: Context<AppEnv>,
  sender: EntrySender,
  stream: BodyStream,
  type: string,
): Promise<Response> {
  const request = new StreamedRequest(c, sender, stream);
  try {
    return await request.store(type);
  } catch (error) {
    await stream.drain();
    throw error;
  } finally {
    request.free();
    stream.release();
    await sender.discard();
  }
}

class StreamedRequest {
  readonly #c: Context<AppEnv>;
  readonly #sender: EntrySender;
  readonly #stream: BodyStream;
  readonly #meter = new TurnMeter();
  readonly #lines = new LinesReader(Date.now(), this.#meter);

  constructor(c: Context<AppEnv>, sender: EntrySender, stream: BodyStream) {
    this.#c = c;
    this.#sender = sender;
    this.#stream = stream;
  }

  async store(type: string): Promise<Response> {
    const idempotency = await this.#receive(type);
    let body = this.#lines.finish();
    let result = await this.#sender.send(body, idempotency, this.#lines.oldest);
    if (!result.ok && result.code === "TOO_OLD") {
      await this.#run(this.#lines.dropOlder(result.oldest));
      body = this.#lines.finish();
      result = await this.#sender.send(body, idempotency, this.#lines.oldest);
    }
    return answerEntries(this.#c, result, body);
  }

  free(): void {
    this.#lines.take();
  }

  /** Reads the body to its end. A body that cannot be read is counted, after faults of its key. */
  async #receive(type: string): Promise<Idempotency | null> {
    const { caller, requirement } = this.#sender;
    const { headers } = this.#c.req.raw;
    const key = await countIfRefused(this.#c, caller, requirement, () => idempotencyKeyHash(headers));
    const hash = key && createHash("sha256").update(`${type}\n`);
    try {
      await this.#stream.reserve(this.#stream.held + BUFFER_BYTES + PARSING_BYTES);
      for await (const chunk of this.#stream.chunks()) {
        hash?.update(chunk);
        await this.#run(this.#lines.readChunk(chunk, this.#stream.length));
        await this.#stream.reserve(this.#held);
        if (this.#lines.batchBytes > STAGING.callBytes) await this.#stage();
      }
    } catch (error) {
      if (!(error instanceof BodyFailed)) throw error;
      const { reason } = error;
      await countIfRefused(this.#c, caller, requirement, () => {
        bodyOrRefuse({ ok: false, reason }, INGEST_LIMITS.linesBodyBytes);
      });
    }
    await this.#run(this.#lines.readEnd());
    return key && hash && { key, body: hash.digest() };
  }

  get #held(): number {
    return this.#stream.held + this.#lines.held + PARSING_BYTES;
  }

  /** Sends the batches so far to the object, outside of what readers see. */
  async #stage(): Promise<void> {
    for (let isStored = false; !isStored && this.#lines.batchBytes > 0; ) {
      const batches = this.#lines.batches();
      const staged = await this.#sender.stage(batches, this.#lines.oldest);
      ({ isStored } = staged);
      if (isStored) this.#lines.take();
      if (this.#lines.oldest === null) await this.#run(this.#lines.dropOlder(staged.oldest));
    }
    this.#stream.resize(this.#held);
  }

  /** Runs work in turns, one stretch of one body at a time, with the lease up to date. */
  async #run(steps: Steps<void>): Promise<void> {
    await streamScheduler.begin(CHUNK_MS);
    for (let isDone = false; !isDone; ) {
      isDone = steps.next().done === true;
      this.#stream.resize(this.#held);
      if (!this.#meter.isDue) continue;
      this.#meter.renew();
      await streamScheduler.take(STRETCH_MS);
    }
    streamScheduler.end();
  }
}
