import { ByteReader, ByteWriter } from "../../bytes/varint.ts";
import { pack, unpack } from "./pack.ts";

/** Entries of one batch that follow each other in `seq` without a gap. */
export interface BatchRun {
  firstSeq: number;
  count: number;
  commit: number;
  /** Epoch milliseconds. */
  receivedAt: number;
}

/** Below this, compression saves less than it adds. */
const COMPRESS_FROM_BYTES = 256;

const DENSE = 0;
const SPARSE = 1;
const COMPRESSED = 2;

/**
 * Packed form: flags, then LEB128, compressed where that makes it smaller. First `seq`, commit and time of the first run;
 * then column by column, as equal things compress together: counts, commits and times (zigzag) as differences to the run
 * before, and where `seq` has gaps what is left out before each run.
 */
export function packBatchTable(runs: readonly BatchRun[]): Uint8Array {
  const [first] = runs;
  if (first === undefined) throw new RangeError("A segment has at least one run.");
  const gaps = runs.map(
    (run, index) => run.firstSeq - endOf(runs[index - 1] ?? { firstSeq: first.firstSeq, count: 0 }),
  );
  if (gaps.some((gap) => gap < 0) || runs.some((run, index) => run.commit < (runs[index - 1] ?? run).commit)) {
    throw new RangeError("The runs of a segment rise in seq and commit.");
  }
  const isSparse = gaps.some((gap) => gap > 0);
  const writer = new ByteWriter();
  writer.varint(runs.length);
  writer.varint(first.firstSeq);
  writer.varint(first.commit);
  writer.varint(first.receivedAt);
  for (const run of runs) writer.varint(run.count);
  runs.forEach((run, index) => {
    writer.varint(run.commit - (runs[index - 1] ?? first).commit);
  });
  runs.forEach((run, index) => {
    writer.varint(zigzag(run.receivedAt - (runs[index - 1] ?? first).receivedAt));
  });
  if (isSparse) for (const gap of gaps) writer.varint(gap);
  const plain = writer.toBytes();
  const flags = isSparse ? SPARSE : DENSE;
  const packed = plain.length < COMPRESS_FROM_BYTES ? null : pack(plain);
  return packed !== null && packed.length < plain.length
    ? Buffer.concat([Uint8Array.of(flags | COMPRESSED), packed])
    : Buffer.concat([Uint8Array.of(flags), plain]);
}

/** @throws on bytes that `packBatchTable` has not written */
export function readBatchTable(packed: Uint8Array): BatchRun[] {
  const flags = packed[0] ?? 0;
  const rest = packed.subarray(1);
  const reader = new ByteReader((flags & COMPRESSED) === 0 ? rest : unpack(rest));
  const length = reader.varint();
  let firstSeq = reader.varint();
  let commit = reader.varint();
  let receivedAt = reader.varint();
  const column = () => Array.from({ length }, () => reader.varint());
  const counts = column();
  const commits = column();
  const times = column();
  const gaps = (flags & SPARSE) === 0 ? [] : column();
  return counts.map((count, index) => {
    firstSeq += gaps[index] ?? 0;
    commit += commits[index] ?? 0;
    receivedAt += unzigzag(times[index] ?? 0);
    const run = { firstSeq, count, commit, receivedAt };
    firstSeq += count;
    return run;
  });
}

function endOf({ firstSeq, count }: Pick<BatchRun, "firstSeq" | "count">): number {
  return firstSeq + count;
}

/** By arithmetic: times differ by more than 32 bits hold. */
function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
