import type { Bucket, FileRange } from "../../../platform/bucket.ts";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { GroupBytes } from "../../segments/decode/group-bytes.ts";
import { SegmentReader } from "../../segments/decode/segment-reader.ts";
import { columnCountsOf } from "../../segments/decode/source-lines.ts";
import { mergeColumns } from "../../segments/encode/choose-columns.ts";
import { type CatalogFile, catalogFile, PLACEMENT } from "../../segments/encode/encode-rows.ts";
import type { MergeStep } from "../../segments/merge/join-texts.ts";
import { COPY_ROWS, SegmentMerger } from "../../segments/merge/segment-merger.ts";
import { MalformedFile } from "../../segments/parquet/thrift.ts";
import { type Block, readBlockIndex } from "../format/batch-table.ts";
import { CorruptSegment, FILE_HEAD_BYTES } from "../format/segment.ts";
import { linesOfBlocks } from "./block-lines.ts";
import { filterOf, type MergedFilter, WIDE_FROM_ENTRIES } from "./filters.ts";
import { partOf } from "./policy.ts";
import type { CompactionStore, MergeInput } from "./store.ts";
import { mergedPart } from "./visibility.ts";

/** Runs a generator with pauses. */
export async function inSteps<T>(steps: Generator<MergeStep, T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== null) await step.value;
    await pause();
  }
}

/** A merged file with its row, and all its bytes. */
export type MergedFile = CatalogFile & { bytes: Uint8Array; filterFile: MergedFilter["file"] };

/** Bytes, and row groups, that are read at once. */
const READ_BYTES = 1024 * 1024;
const READ_GROUPS = 6;

/** What a merge reads and uses. */
export interface MergePorts {
  store: Pick<CompactionStore, "body">;
  /** For files that are read; `null` without one. */
  bucket: Bucket | null;
  /** Whether new files are stored whole in D1 although there is a bucket. */
  isInD1Only?: boolean;
  /** Yields to other requests. */
  pause: () => Promise<void>;
  /** Entries from which on a filter is in the bucket; `WIDE_FROM_ENTRIES` unless given. */
  wideFrom?: number;
}

interface Project {
  workspaceId: string;
  projectId: string;
}

/** Whether an error of a merge is due to its inputs, so that no repetition helps. Memory and connections are not. */
export function isDamage(error: unknown): boolean {
  if (error instanceof RangeError) return !/alloc/i.test(error.message);
  return [MalformedFile, CorruptSegment, SyntaxError, TypeError].some((kind) => error instanceof kind);
}

/** One merge: builds a file of the inputs of each part. */
export class Merge {
  readonly #ports: MergePorts;
  readonly #call: Project;
  readonly #inputs: readonly MergeInput[];
  readonly #visibleFrom: number;

  constructor(ports: MergePorts, call: Project, inputs: readonly MergeInput[], visibleFromMs: number) {
    this.#ports = ports;
    this.#call = call;
    this.#inputs = inputs;
    this.#visibleFrom = visibleFromMs;
  }

  /** @throws an error of `isDamage` if an input cannot be read */
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
    const { wideFrom = WIDE_FROM_ENTRIES, isInD1Only = false, bucket } = this.#ports;
    const isInBucket = bucket !== null && !isInD1Only;
    const byColumnBytes = isInBucket ? PLACEMENT.bucketFromBytes : Number.POSITIVE_INFINITY;
    const rows = sources.reduce((sum, { input }) => sum + input.count, 0);
    const merger = new SegmentMerger(projectId, columns, { byColumnBytes, rows });
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
    const isWide = isInBucket && merged.count >= wideFrom;
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
        if (bytes === null || bytes === undefined) throw new MalformedFile("The file is missing or too short.");
        held.add(start, bytes);
      }
      yield { source, group, bytes: held };
      held.release();
    }
  }

  async *#fromRow(source: Source): AsyncGenerator<Group> {
    const { workspaceId, projectId } = this.#call;
    const { reader, input } = source;
    const body = await this.#ports.store.body(workspaceId, projectId, input);
    if (body === null) throw new Error("A segment is missing.");
    if (reader === null) yield { source, group: 0, bytes: body };
    else {
      for (const group of reader.rowGroups.keys()) {
        yield { source, group, bytes: GroupBytes.ofFile(reader, group, body) };
      }
    }
    detachBuffer(body);
  }

  #run<T>(steps: Generator<MergeStep, T>): Promise<T> {
    return inSteps(steps, this.#ports.pause);
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
