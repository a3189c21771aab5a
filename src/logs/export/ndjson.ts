import { createHash } from "node:crypto";
import type { SourceLine } from "../cold/format/lines.ts";
import { logId } from "../entry-view.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import type { ExportFacts, ExportWriter } from "./writer.ts";

/** Bytes of a chunk, unless one entry is larger. */
const CHUNK_BYTES = 64 * 1024;
/** Bytes of an entry beside its line: id, `seq`, project, receipt time and their names. Less than these are used. */
const ADDED_BYTES = 256;

/** Writes each entry as a line of JSON, as queries return it, and the manifest as the last line. */
export class NdjsonWriter implements ExportWriter {
  readonly #projectId: string;
  readonly #meter: WorkMeter;
  readonly #hash = createHash("sha256");
  #ready: Uint8Array[] = [];
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #used = 0;
  #receivedAt = Number.NaN;
  #received = "";

  constructor(projectId: string, meter: WorkMeter) {
    this.#projectId = projectId;
    this.#meter = meter;
  }

  *add(lines: readonly SourceLine[]): Generator<void> {
    for (const line of lines) {
      this.#write(line);
      if (this.#meter.isDue) yield;
    }
  }

  get isFull(): boolean {
    return false;
  }

  get heldBytes(): number {
    return this.#chunk.length;
  }

  take(): Uint8Array[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  end(facts: ExportFacts): Iterator<void, void> {
    this.#close();
    const manifest = { ...facts, sha256: this.#hash.digest("hex") };
    this.#ready.push(Buffer.from(`${JSON.stringify({ manifest })}\n`));
    return { next: () => ({ done: true, value: undefined }) };
  }

  #write({ batch: { body, receivedAt }, seq, start, end }: SourceLine): void {
    const size = end - start + ADDED_BYTES;
    if (this.#used + size > this.#chunk.length) this.#close();
    if (size > this.#chunk.length) this.#chunk = Buffer.allocUnsafeSlow(size);
    if (receivedAt !== this.#receivedAt) {
      this.#receivedAt = receivedAt;
      this.#received = new Date(receivedAt).toISOString();
    }
    const chunk = this.#chunk;
    // The line without its braces. Every line has members, so the commas are right.
    let at = this.#used + chunk.write(`{"id":"${logId(this.#projectId, seq)}",`, this.#used, "latin1");
    chunk.set(body.subarray(start + 1, end - 1), at);
    at += end - start - 2;
    const added = `,"seq":${seq},"projectId":"${this.#projectId}","receivedAt":"${this.#received}"}\n`;
    this.#used = at + chunk.write(added, at, "latin1");
    this.#meter.add(WORK.row + size);
  }

  #close(): void {
    if (this.#used === 0) return;
    const bytes = this.#chunk.subarray(0, this.#used);
    this.#hash.update(bytes);
    this.#ready.push(bytes);
    this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.#used = 0;
  }
}
