import type { Bucket, FileRange } from "../../../platform/bucket.ts";
import { GroupBytes } from "../../segments/decode/group-bytes.ts";
import { SegmentReader } from "../../segments/decode/segment-reader.ts";
import { columnCountsOf } from "../../segments/decode/source-lines.ts";
import { mergeColumns } from "../../segments/encode/choose-columns.ts";
import {
  type CatalogFile,
  catalogFile,
  isForBucket,
  PLACEMENT,
  placeInBucket,
  placeInRow,
} from "../../segments/encode/encode-rows.ts";
import { COPY_ROWS, SegmentMerger } from "../../segments/merge/segment-merger.ts";
import { type Block, readBlockIndex } from "../format/batch-table.ts";
import { FILE_HEAD_BYTES } from "../format/segment.ts";
import { linesOfBlocks } from "./block-lines.ts";
import { filterOf, joinNewestFilters, type MergedFilter, WIDE_FROM_ENTRIES } from "./filters.ts";
import { chooseMerge, compactionLimits, partOf } from "./policy.ts";
import type { CompactionStore, MergeInput } from "./store.ts";
import { mergedPart, SWAP_MS, visibleFrom } from "./visibility.ts";

/** One step of the compaction of a project. */
export interface CompactionCall {
  workspaceId: string;
  projectId: string;
  /** Ranges up to this `seq` are as large as they become. */
  doneSeq: number;
  /** Ranges up to this `seq` were flushed so long ago that no late writer can insert them again. */
  readySeq: number;
  retentionDays: number;
  /** Epoch milliseconds after which nothing is written. A call may outlive the object that made it. */
  deadline: number;
}

export type CompactionOutcome =
  /** Segments were replaced. There may be more to do. */
  | { outcome: "merged"; doneSeq: number; replaced: number; segments: number; entries: number; bytes: number }
  /** There is nothing to merge up to `doneSeq`, or up to `readySeq` if `isLast`. */
  | { outcome: "idle"; doneSeq: number; isLast: boolean }
  /** Repeat later. */
  | { outcome: "failed"; reason: string };

export interface CompactionPorts {
  store: CompactionStore;
  /** For files that are read; `null` without one. */
  bucket: Bucket | null;
  /** Whether new files are stored whole in D1 although there is a bucket. */
  isInD1Only?: boolean;
  now: () => number;
  /** Yields to other requests. */
  pause: () => Promise<void>;
  /** Entries from which on a filter is in the bucket; `WIDE_FROM_ENTRIES` unless given. */
  wideFrom?: number;
}

/** Candidates of a choice. The oldest of them decide. */
const CANDIDATES = 512;

/**
 * Merges the next segments of a project: chooses them, builds the files, stores them, and replaces the rows in one
 * transaction. A crash at any point leaves the old segments or the new ones, and at most a file that is noted as an orphan.
 */
export async function compactOnce(ports: CompactionPorts, call: CompactionCall): Promise<CompactionOutcome> {
  const { store, now } = ports;
  const bucket = targetOf(ports);
  const { workspaceId, projectId, retentionDays } = call;
  const run = <T>(steps: Generator<null, T>) => inSteps(steps, ports.pause);
  if (bucket !== null) await joinNewestFilters({ store, bucket, now, run }, workspaceId, projectId);
  const found = await store.candidates(workspaceId, projectId, { after: call.doneSeq, to: call.readySeq }, CANDIDATES);
  const isLast = found.length < CANDIDATES;
  // The last range may have more parts.
  const whole = isLast ? found : found.filter(({ firstSeq }) => firstSeq !== found.at(-1)?.firstSeq);
  const limits = compactionLimits(retentionDays, bucket !== null);
  const { merge, doneSeq } = chooseMerge(whole, limits, call.doneSeq);
  if (merge === null) return { outcome: "idle", doneSeq, isLast };
  const inputs = await store.inputs(workspaceId, projectId, merge);
  if (inputs.length !== merge.length) return { outcome: "failed", reason: "Segments have changed" };
  const from = visibleFrom(
    now(),
    merge.map(({ part }) => part),
  );
  // A read between that time and a later swap would see the replaced segments on one page and the merged one on the next.
  const deadline = Math.min(call.deadline, from - SWAP_MS);
  const files = await new Merge(ports, call, inputs, from).files();
  if (now() > deadline) return { outcome: "failed", reason: "The compaction was too late" };
  const rows = files.map((file) =>
    bucket !== null && isForBucket(file, true) ? placeInBucket(file, workspaceId) : placeInRow(file),
  );
  const put = async () => {
    for (const [index, { bytes, sha256 }] of files.entries()) {
      const key = rows[index]?.file ?? null;
      if (bucket !== null && key !== null) await bucket.putNew({ key, bytes, sha256 });
      const filter = files[index]?.filterFile ?? null;
      if (bucket !== null && filter !== null) await bucket.putNew(filter);
    }
  };
  const filters = files.map(({ filterFile }) => filterFile?.key ?? null);
  const keys = [...rows.map(({ file }) => file), ...filters].filter((file) => file !== null);
  if (keys.length > 0) await store.noteFiles(workspaceId, keys, now());
  await put();
  if (now() > deadline) return { outcome: "failed", reason: "The compaction was too late" };
  if (!(await store.swap(workspaceId, merge, rows, from, filters)))
    return { outcome: "failed", reason: "Segments have changed" };
  // A sweep of the version before may have deleted a file between the two writes.
  for (const key of keys) if ((await bucket?.head(key)) === null) await put();
  return {
    outcome: "merged",
    doneSeq,
    replaced: merge.length,
    segments: rows.length,
    entries: rows.reduce((sum, { count }) => sum + count, 0),
    bytes: rows.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
  };
}

/** Returns the bucket for new files. */
function targetOf({ bucket, isInD1Only = false }: CompactionPorts): Bucket | null {
  return isInD1Only ? null : bucket;
}

/** A merged file with its row, and all its bytes. */
type MergedFile = CatalogFile & { bytes: Uint8Array; filterFile: MergedFilter["file"] };

/** Bytes, and row groups, that are read at once. */
const READ_BYTES = 1024 * 1024;
const READ_GROUPS = 6;

/** One merge: builds a file of the inputs of each part. */
class Merge {
  readonly #ports: CompactionPorts;
  readonly #call: CompactionCall;
  readonly #inputs: readonly MergeInput[];
  readonly #visibleFrom: number;

  constructor(ports: CompactionPorts, call: CompactionCall, inputs: readonly MergeInput[], visibleFromMs: number) {
    this.#ports = ports;
    this.#call = call;
    this.#inputs = inputs;
    this.#visibleFrom = visibleFromMs;
  }

  async files(): Promise<MergedFile[]> {
    const parts = [...new Set(this.#inputs.map(partOf))].sort((a, b) => a - b);
    const files: MergedFile[] = [];
    for (const part of parts) files.push(await this.#file(part));
    return files;
  }

  async #file(part: number): Promise<MergedFile> {
    const { projectId } = this.#call;
    const sources = this.#inputs.filter((input) => partOf(input) === part).map(openInput);
    const readers = sources.map(({ reader }) => reader).filter((reader) => reader !== null);
    const isCopied = readers.some(({ rowGroups }) => rowGroups.some(({ rows }) => rows >= COPY_ROWS));
    const columns = isCopied ? mergeColumns(readers.map(columnCountsOf)) : null;
    // A file in its row is read by row groups.
    const isInBucket = targetOf(this.#ports) !== null;
    const byColumnBytes = isInBucket ? PLACEMENT.bucketFromBytes : Number.POSITIVE_INFINITY;
    const merger = new SegmentMerger(projectId, columns, { byColumnBytes });
    for (const { input } of sources) merger.addCounts(input);
    for await (const { source, group, bytes } of this.#groups(sources)) {
      const block = source.blocks[group];
      if (bytes instanceof Uint8Array)
        await this.#run(merger.addLines(linesOfBlocks(source.input, source.input.table, bytes)));
      else if (source.reader !== null && block !== undefined)
        await this.#run(merger.addGroup({ reader: source.reader, group, bytes }, block));
    }
    const merged = await this.#run(merger.finish(this.#inputs.filter((input) => partOf(input) === part).map(nameOf)));
    // All files cover the whole range, so that ranges stay consecutive.
    const key = {
      projectId,
      firstSeq: Math.min(...this.#inputs.map(({ firstSeq }) => firstSeq)),
      lastSeq: Math.max(...this.#inputs.map(({ lastSeq }) => lastSeq)),
      part: mergedPart(this.#visibleFrom, part),
    };
    const { wideFrom = WIDE_FROM_ENTRIES } = this.#ports;
    const isWide = targetOf(this.#ports) !== null && merged.count >= wideFrom;
    const { row, file: filterFile } = await this.#run(filterOf(this.#call.workspaceId, projectId, merged, isWide));
    return { ...catalogFile(key, merged, row), bytes: merged.bytes, filterFile };
  }

  /** Reads the row groups in order, some at a time; a segment of line blocks as one. */
  async *#groups(sources: readonly Source[]): AsyncGenerator<Group> {
    let next: Wanted[] = [];
    let held = 0;
    for (const source of sources) {
      const { reader, input } = source;
      const { file } = input;
      if (reader === null || file === null) {
        yield* this.#fromBucket(next);
        next = [];
        held = 0;
        yield* this.#fromRow(source);
        continue;
      }
      for (const group of reader.rowGroups.keys()) {
        // A merged file is stored column by column.
        const ranges = new GroupBytes(reader, group).all.map((range) => ({ key: file, ...range }));
        const bytes = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
        if (next.length === READ_GROUPS || (held > 0 && held + bytes > READ_BYTES)) {
          yield* this.#fromBucket(next);
          next = [];
          held = 0;
        }
        next.push({ source, reader, group, ranges });
        held += bytes;
      }
    }
    yield* this.#fromBucket(next);
  }

  async *#fromBucket(wanted: readonly Wanted[]): AsyncGenerator<Group> {
    if (wanted.length === 0) return;
    const { bucket } = this.#ports;
    if (bucket === null) throw new Error("The deployment has no bucket, but segments have files.");
    const read = await bucket.readRanges(wanted.flatMap(({ ranges }) => ranges));
    let next = 0;
    for (const { source, reader, group, ranges } of wanted) {
      const held = new GroupBytes(reader, group);
      for (const { start } of ranges) {
        const bytes = read[next++];
        if (bytes === null || bytes === undefined) throw new Error("A file of a segment is missing.");
        held.add(start, bytes);
      }
      yield { source, group, bytes: held };
    }
  }

  async *#fromRow(source: Source): AsyncGenerator<Group> {
    const { workspaceId, projectId } = this.#call;
    const { reader, input } = source;
    const body = await this.#ports.store.body(workspaceId, projectId, input);
    if (body === null) throw new Error("A segment is missing.");
    if (reader === null) {
      yield { source, group: 0, bytes: body };
      return;
    }
    for (const group of reader.rowGroups.keys()) {
      yield { source, group, bytes: GroupBytes.ofFile(reader, group, body) };
    }
  }

  #run<T>(steps: Generator<null, T>): Promise<T> {
    return inSteps(steps, this.#ports.pause);
  }
}

async function inSteps<T>(steps: Generator<null, T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}

/** A row group to be read from the bucket. */
interface Wanted {
  source: Source;
  reader: SegmentReader;
  group: number;
  ranges: readonly FileRange[];
}

interface Group {
  source: Source;
  group: number;
  /** All bytes of line blocks; the columns of a row group. */
  bytes: Uint8Array | GroupBytes;
}

/** An input, opened by its footer. */
interface Source {
  input: MergeInput;
  /** `null` for line blocks. */
  reader: SegmentReader | null;
  blocks: readonly Block[];
  /** Bytes of its blocks. */
  size: number;
}

function openInput(input: MergeInput): Source {
  const blocks = readBlockIndex(input);
  const size = blocks.at(-1)?.end ?? 0;
  const { isFile, table } = input;
  const reader = isFile ? new SegmentReader(table, FILE_HEAD_BYTES + size + table.length) : null;
  return { input, reader, blocks, size };
}

/** Returns the name of a replaced segment in the metadata of the file: that of its file, or its first `seq` and part. */
function nameOf({ file, firstSeq, part }: MergeInput): string {
  return file?.split("/").at(-1) ?? `${firstSeq.toString(16).padStart(16, "0")}-${part}`;
}
