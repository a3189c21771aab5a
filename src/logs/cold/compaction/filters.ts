import { createHash } from "node:crypto";
import type { Bucket } from "../../../platform/bucket.ts";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { SegmentReader } from "../../segments/decode/segment-reader.ts";
import type { MergedSegment } from "../../segments/merge/segment-merger.ts";
import { ColumnTokens } from "../../segments/tokens/column-tokens.ts";
import { chooseFilter, maxFilterBytes } from "../filter/block-filter.ts";
import { TokenTable } from "../filter/token-table.ts";
import { TokenCollector } from "../filter/tokens.ts";
import {
  FILTER_BLOCK_BYTES,
  FILTERS_OF_FILE,
  FilterFileBuilder,
  filterKey,
  formOfKey,
  WideFilterBuilder,
} from "../filter/wide-filter.ts";
import { filePrefix } from "../format/file-key.ts";
import type { CompactionStore } from "./store.ts";

/** Entries from which on the filter of a merged segment is in the bucket. */
export const WIDE_FROM_ENTRIES = 50_000;
/** Bytes of a file of several filters. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Merged segments that are searched for filters to be joined. */
const SEARCHED = 2 * FILTERS_OF_FILE;

/** The filter of a merged segment. */
export interface MergedFilter {
  /** For the row; see `chooseFilter`. */
  row: { kinds: number; filter: Uint8Array };
  /** For the bucket; `null` if the filter is in the row, or would exclude nothing. */
  file: { key: string; bytes: Uint8Array; sha256: string } | null;
}

const NONE = { kinds: 0, filter: new Uint8Array(0) };

/** A table that passes its tokens on. */
class PassingTable extends TokenTable {
  readonly #filter: WideFilterBuilder;

  constructor(filter: WideFilterBuilder) {
    super();
    this.#filter = filter;
  }

  override add(a: number, b: number): void {
    this.#filter.add(a, b);
  }
}

/**
 * Makes the filter of a merged segment from its columns, in steps of some milliseconds.
 * @param isWide whether it is for the bucket
 */
export function* filterOf(
  workspaceId: string,
  projectId: string,
  { bytes, footer, size, count }: MergedSegment,
  isWide: boolean,
): Generator<null, MergedFilter> {
  const wide = isWide ? new WideFilterBuilder() : null;
  const collector = new TokenCollector(wide === null ? undefined : () => new PassingTable(wide));
  const reader = new SegmentReader(footer, size);
  const tokens = new ColumnTokens(collector);
  const chunk = (group: number, column: number) => {
    const { start, end } = reader.range(group, column);
    return bytes.subarray(start, end);
  };
  for (const group of reader.rowGroups.keys()) {
    yield* tokens.add(reader, group, chunk);
    yield null;
  }
  if (wide === null) return { row: chooseFilter(collector, maxFilterBytes(count, size)), file: null };
  const filter = yield* wide.finish();
  if (filter === null) return { row: NONE, file: null };
  yield null;
  const sha256 = createHash("sha256").update(filter).digest("hex");
  const form = { filters: 1, blocks: filter.length / FILTER_BLOCK_BYTES };
  return { row: NONE, file: { key: filterKey(folderOf(workspaceId, projectId), form, sha256), bytes: filter, sha256 } };
}

function folderOf(workspaceId: string, projectId: string): string {
  return filePrefix(workspaceId, projectId).slice(0, -1);
}

export interface JoinPorts {
  store: CompactionStore;
  bucket: Bucket;
  now: () => number;
  /** Runs a generator with pauses. */
  run: <T>(steps: Generator<null, T>) => Promise<T>;
}

/** Puts the filters of eight merged segments into one file, if the newest ones of a project are as many. */
export async function joinNewestFilters(
  { store, bucket, now, run }: JoinPorts,
  workspaceId: string,
  projectId: string,
): Promise<void> {
  const found = await store.newestFilters(workspaceId, projectId, SEARCHED);
  if (found.length < FILTERS_OF_FILE) return;
  const rows = found.slice(0, FILTERS_OF_FILE);
  const sizes = rows.map(({ file }) => (formOfKey(file)?.blocks ?? 0) * FILTER_BLOCK_BYTES);
  const blocks = Math.max(...sizes) / FILTER_BLOCK_BYTES;
  // Larger filters are few: their segments have millions of different values.
  if (blocks * FILTER_BLOCK_BYTES * FILTERS_OF_FILE > MAX_FILE_BYTES) return;
  const form = { filters: rows.length, blocks };
  const builder = new FilterFileBuilder(form);
  for (const [slot, { file }] of rows.entries()) {
    const [filter] = await bucket.readRanges([{ key: file, start: 0, end: sizes[slot] ?? 0 }]);
    if (!filter) return;
    await run(builder.put(slot, filter));
    detachBuffer(filter);
  }
  const sha256 = createHash("sha256").update(builder.bytes).digest("hex");
  const key = filterKey(folderOf(workspaceId, projectId), form, sha256);
  await store.noteFiles(workspaceId, [key], now());
  await bucket.putNew({ key, bytes: builder.bytes, sha256 });
  await store.joinFilters(workspaceId, projectId, rows, key, now());
}
