import { createHash } from "node:crypto";
import type { DecodedBatch, SourceLine } from "../cold/format/lines.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import { FileEncoder } from "../segments/encode/encode-segment.ts";
import { PROPERTY_PREFIX } from "../segments/properties.ts";
import type { ExportFacts, ExportWriter } from "./writer.ts";

/**
 * Bytes of lines in a row group, which are in memory until it is encoded: a quarter of a stored file's, so that several
 * exports run at a time.
 */
const GROUP_BYTES = 2 * 1024 * 1024;
/** Row groups of a file. The metadata of a row group, with 100 columns, is in memory until the end. */
const MAX_GROUPS = 128;
const GROUP_METADATA_BYTES = 20_000;
/** Memory of lines and of the positions of their values, by bytes of lines. */
const HELD_FACTOR = 2;
/** Work units of a step of the encoder, about 2 ms, and of a byte that is added. */
const STEP_COST = 1_300_000;
const ADDED_BYTE = 3;

/** Writes entries as a Parquet file with the columns of a segment file, and the manifest in its metadata. */
export class ParquetWriter implements ExportWriter {
  readonly #encoder: FileEncoder;
  readonly #meter: WorkMeter;
  readonly #hash = createHash("sha256");
  #ready: Uint8Array[] = [];

  constructor(projectId: string, meter: WorkMeter, groupBytes = GROUP_BYTES) {
    this.#encoder = new FileEncoder(projectId, { groupBytes, ownsBodies: true }, null);
    this.#meter = meter;
  }

  get isFull(): boolean {
    return this.#encoder.groups >= MAX_GROUPS;
  }

  get heldBytes(): number {
    return HELD_FACTOR * this.#encoder.openBytes + GROUP_METADATA_BYTES * this.#encoder.groups;
  }

  *add(lines: readonly SourceLine[]): Generator<void> {
    this.#meter.add(lines.reduce((sum, { start, end }) => sum + WORK.line + ADDED_BYTE * (end - start), 0));
    yield* this.#paced(this.#encoder.add(copied(lines)));
    this.#collect();
  }

  take(): Uint8Array[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  *end(facts: ExportFacts): Generator<void, void> {
    yield* this.#paced(this.#encoder.endGroup());
    this.#collect();
    const manifest = JSON.stringify({ ...facts, sha256: this.#hash.digest("hex") });
    const { footer } = this.#encoder.finish(new Map([[`${PROPERTY_PREFIX}manifest`, manifest]]));
    this.#ready.push(footer);
  }

  #collect(): void {
    for (const part of this.#encoder.takeParts()) {
      this.#hash.update(part);
      this.#ready.push(part);
    }
  }

  *#paced(steps: Generator<unknown>): Generator<void> {
    for (const _ of steps) {
      this.#meter.add(STEP_COST);
      if (this.#meter.isDue) yield;
    }
  }
}

const LINE_BREAK = 10;

/** Copies lines to a body that holds only them. The encoder needs their bytes until their row group is encoded. */
function copied(lines: readonly SourceLine[]): SourceLine[] {
  const body = new Uint8Array(lines.reduce((sum, { start, end }) => sum + end - start + 1, 0));
  const own: SourceLine[] = [];
  let from: DecodedBatch | null = null;
  let batch: DecodedBatch = { firstSeq: 0, count: 0, commit: 0, receivedAt: 0, body };
  let at = 0;
  for (const line of lines) {
    if (from !== line.batch) {
      from = line.batch;
      batch = { ...from, body };
    }
    const start = at;
    body.set(from.body.subarray(line.start, line.end), at);
    at += line.end - line.start;
    body[at++] = LINE_BREAK;
    own.push({ ...line, batch, start, end: at - 1 });
  }
  return own;
}
