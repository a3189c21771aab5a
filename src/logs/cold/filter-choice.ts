import { buildFilter, filterBytes } from "./bloom.ts";
import { ALL_SLOTS, blockFilterBytes, buildBlockFilter } from "./frame-filter.ts";
import type { TokenCollector } from "./token-collector.ts";
import type { TokenTable } from "./token-table.ts";
import { TOKEN_KIND } from "./tokens.ts";

/** What each of a segment's filters may take: a part of its body's bytes, or so many bytes an entry where that is more. */
const FILTER_SHARE = 1 / 5;
const FILTER_BYTES_PER_ENTRY = 6;
const SMALL_FILTER_BYTES = 2048;
const LARGEST_FILTER_BYTES = 128 * 1024;

/** Which kinds come first where not all can be in the filter. */
const KINDS_BY_WORTH = [TOKEN_KIND.id, TOKEN_KIND.text, TOKEN_KIND.three, TOKEN_KIND.scalar, TOKEN_KIND.four];

/** A filter of the kinds of token that fit. What is left out is not told apart, so it costs scans and never an entry. */
export function chooseFilter(tokens: TokenCollector, most: number): { kinds: number; filter: Uint8Array } {
  const { kinds, count, chosen } = fitting(tokens, most, ({ size }) => size, filterBytes);
  // At least a byte: what has no token of a kind is told by that, too.
  return { kinds, filter: buildFilter(chosen, Math.max(1, filterBytes(count))) };
}

/** The same by frame. */
export function chooseBlockFilter(
  tokens: TokenCollector,
  most: number,
  blocks: number,
): { kinds: number; filter: Uint8Array } {
  const bytes = (pairs: number) => blockFilterBytes(pairs, blocks);
  const { kinds, chosen } = fitting(tokens, most, ({ pairCount }) => pairCount, bytes);
  return { kinds: kinds | ALL_SLOTS, filter: buildBlockFilter(chosen, blocks) };
}

/** What each of the filters may take. */
export function maxFilterBytes(entries: number, bodyBytes: number): number {
  const fair = Math.max(SMALL_FILTER_BYTES, bodyBytes * FILTER_SHARE, entries * FILTER_BYTES_PER_ENTRY);
  return Math.min(LARGEST_FILTER_BYTES, fair);
}

/** The kinds that fit into so many bytes, the worthiest first. */
function fitting(
  tokens: TokenCollector,
  most: number,
  size: (table: TokenTable) => number,
  bytes: (count: number) => number,
): { kinds: number; count: number; chosen: TokenTable[] } {
  const chosen: TokenTable[] = [];
  let kinds = 0;
  let count = 0;
  for (const kind of KINDS_BY_WORTH) {
    const table = tokens.kinds.get(kind);
    if (table === undefined || bytes(count + size(table)) > most) continue;
    chosen.push(table);
    kinds |= kind;
    count += size(table);
  }
  return { kinds, count, chosen };
}
