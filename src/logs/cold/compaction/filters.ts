import { createHash } from "node:crypto";
import type { Bucket } from "../../../platform/bucket.ts";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { SegmentReader } from "../../segments/decode/segment-reader.ts";
import type { MergedSegment } from "../../segments/merge/segment-merger.ts";
import { ColumnTokens, expectedTokens } from "../../segments/tokens/column-tokens.ts";
import { chooseFilter, maxFilterBytes } from "../filter/block-filter.ts";
import { TokenTable } from "../filter/token-table.ts";
import { TokenCollector } from "../filter/tokens.ts";
import {
  blocksOfGroups,
  FILTER_BLOCK_BYTES,
  FilterFileBuilder,
  filterKey,
  formOfKey,
  SEGMENTS_OF_FILE,
  sizeClass,
  WideFilterBuilder,
} from "../filter/wide-filter.ts";
import { filePrefix } from "../format/file-key.ts";
import type { CompactionStore } from "./store.ts";

/** Entries from which on the filter of a merged segment is in the bucket. */
export const WIDE_FROM_ENTRIES = 50_000;
/** Bytes of a file of several filters. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Merged segments that are searched for filters to be joined. */
const SEARCHED = 2 * SEGMENTS_OF_FILE;

/** The filter of a merged segment. */
export interface MergedFilter {
  /** For the row; see `chooseFilter`. */
  row: { kinds: number; filter: Uint8Array };
  /** For the bucket; `null` if the filter is in the row, or would exclude nothing. */
  file: { key: string; bytes: Uint8Array; sha256: string } | null;
}

/** The filter of a row group with more tokens than a filter can tell apart. */
const EXCLUDES_NOTHING = new Uint8Array(FILTER_BLOCK_BYTES).fill(0xff);
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
  const reader = new SegmentReader(footer, size);
  const chunk = (group: number, column: number) => {
    const { start, end } = reader.range(group, column);
    return bytes.subarray(start, end);
  };
  if (!isWide) {
    const collector = new TokenCollector();
    const tokens = new ColumnTokens(collector);
    for (const group of reader.rowGroups.keys()) {
      yield* tokens.add(reader, group, chunk);
      yield null;
    }
    return { row: chooseFilter(collector, maxFilterBytes(count, size)), file: null };
  }
  const filters: Uint8Array[] = [];
  const tokens = Array.from(reader.rowGroups.keys(), (group) => expectedTokens(reader, group, chunk));
  const mostBlocks = blocksOfGroups(reader.rowGroups.length, Math.max(...tokens));
  for (const group of reader.rowGroups.keys()) {
    const wide = new WideFilterBuilder(mostBlocks);
    yield* new ColumnTokens(new TokenCollector(() => new PassingTable(wide))).add(reader, group, chunk);
    filters.push((yield* wide.finish()) ?? EXCLUDES_NOTHING);
    yield null;
  }
  if (filters.every((filter) => filter === EXCLUDES_NOTHING)) return { row: NONE, file: null };
  const blocks = Math.max(...filters.map(({ length }) => length)) / FILTER_BLOCK_BYTES;
  const form = { filters: filters.length, blocks };
  const builder = new FilterFileBuilder(form);
  for (const [slot, filter] of filters.entries()) yield* builder.put(slot, filter);
  yield null;
  const sha256 = createHash("sha256").update(builder.bytes).digest("hex");
  const key = filterKey(folderOf(workspaceId, projectId), 1, form, sha256);
  return { row: NONE, file: { key, bytes: builder.bytes, sha256 } };
}

function folderOf(workspaceId: string, projectId: string): string {
  return filePrefix(workspaceId, projectId).slice(0, -1);
}

const NO_FORM = { filters: 0, blocks: 0, kinds: 0, segments: null };

/** Returns those of the most frequent size class and the same kinds of token, in order. */
function joinable<F extends { file: string }>(filters: readonly F[]): F[] {
  const classes = Map.groupBy(filters, ({ file }) => {
    const form = formOfKey(file) ?? NO_FORM;
    return `${sizeClass(form)} ${form.kinds}`;
  });
  return [...classes.values()].reduce<F[]>((most, own) => (own.length > most.length ? own : most), []);
}

export interface JoinPorts {
  store: CompactionStore;
  bucket: Bucket;
  now: () => number;
  /** Runs a generator with pauses. */
  run: <T>(steps: Generator<null, T>) => Promise<T>;
}

/**
 * Puts the filters of eight merged segments into one file, if the newest ones of a project are as many; fewer if they are large.
 * @throws BucketFailure, also after the deadline (epoch milliseconds)
 */
export async function joinNewestFilters(
  { store, bucket, now, run }: JoinPorts,
  { workspaceId, projectId, deadline }: { workspaceId: string; projectId: string; deadline: number },
): Promise<void> {
  const newest = await store.newestFilters(workspaceId, projectId, SEARCHED);
  const found = joinable(newest);
  // Of different sizes, those of the most frequent one are joined once there are many.
  if (found.length < SEGMENTS_OF_FILE && newest.length < SEARCHED) return;
  const rows: { name: (typeof found)[number]; filters: number; bytes: number }[] = [];
  const form = { filters: 0, blocks: 0, kinds: 0 };
  for (const name of found.slice(0, SEGMENTS_OF_FILE)) {
    const { filters, blocks, kinds } = formOfKey(name.file) ?? NO_FORM;
    const grown = { filters: form.filters + filters, blocks: Math.max(form.blocks, blocks), kinds };
    if (grown.filters * grown.blocks * FILTER_BLOCK_BYTES > MAX_FILE_BYTES) break;
    Object.assign(form, grown);
    rows.push({ name, filters, bytes: filters * blocks * FILTER_BLOCK_BYTES });
  }
  // Larger filters are few: their segments have millions of different values.
  if (rows.length < 2) return;
  const builder = new FilterFileBuilder(form);
  const slots: number[] = [];
  let slot = 0;
  for (const { name, filters, bytes } of rows) {
    const [filter] = await bucket.readRanges([{ key: name.file, start: 0, end: bytes }]);
    if (!filter) return;
    await run(builder.put(slot, filter, filters));
    detachBuffer(filter);
    slots.push(slot);
    slot += filters;
  }
  const sha256 = createHash("sha256").update(builder.bytes).digest("hex");
  const key = filterKey(folderOf(workspaceId, projectId), rows.length, form, sha256, form.kinds);
  await store.noteFiles(workspaceId, [key], now());
  await bucket.putNew({ key, bytes: builder.bytes, sha256 }, deadline);
  const joined = rows.map(({ name }, index) => ({ ...name, slot: slots[index] ?? 0 }));
  await store.joinFilters(workspaceId, projectId, joined, key, now());
}
