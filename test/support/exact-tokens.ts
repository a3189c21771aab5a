import { ALL_SLOTS, SLOTS_PER_TOKEN, slotPosition } from "../../src/logs/cold/filter/block-filter.ts";
import { buildFilter, filterBytes, scaled, TokenHasher } from "../../src/logs/cold/filter/bloom.ts";
import { GramCollector } from "../../src/logs/cold/filter/grams.ts";
import { TokenTable } from "../../src/logs/cold/filter/token-table.ts";
import { EXACT_KIND, hashExactValue, hashId, TOKEN_KIND, type TokenHash } from "../../src/logs/cold/filter/tokens.ts";
import type { Entry } from "../../src/logs/entry.ts";
import type { Scalar } from "../../src/logs/query/filter.ts";

const BITS_PER_PAIR = 8;

/** Tokens of one kind, and the blocks that have them. */
class BlockTable extends TokenTable {
  /** The last block of each token, by both halves of its hash. */
  readonly #last = new Map<number, Map<number, number>>();
  readonly #pairs: [a: number, b: number, block: number][] = [];
  #block = 0;

  /** Number of pairs of token and block; infinite if the table is full. */
  get pairCount(): number {
    return this.size === Number.POSITIVE_INFINITY ? this.size : this.#pairs.length;
  }

  override add(a: number, b: number): void {
    if (this.size === Number.POSITIVE_INFINITY) return;
    let tokens = this.#last.get(a);
    if (tokens === undefined) {
      tokens = new Map();
      this.#last.set(a, tokens);
    }
    const last = tokens.get(b);
    if (last === this.#block) return;
    if (last === undefined) super.add(a, b);
    tokens.set(b, this.#block);
    this.#pairs.push([a, b, this.#block]);
  }

  closeBlock(): void {
    this.#block++;
  }

  forEachPair(visit: (a: number, b: number, block: number) => void): void {
    for (const [a, b, block] of this.#pairs) visit(a, b, block);
  }
}

/** The tokens and filters of segments of line blocks, as the last version made them that wrote such segments. */
export class ExactTokens {
  readonly #hasher = new TokenHasher();
  /** In the order in which they are added to a filter while they fit. */
  readonly #kinds = new Map<number, BlockTable>([
    [EXACT_KIND.id, new BlockTable()],
    [EXACT_KIND.text, new BlockTable()],
    [TOKEN_KIND.three, new BlockTable()],
    [EXACT_KIND.scalar, new BlockTable()],
    [TOKEN_KIND.four, new BlockTable()],
  ]);
  #grams = this.#newGrams();

  add({ session, traceId, spanId, message, service, host, data }: Entry): void {
    for (const [member, id] of [session, traceId, spanId].entries()) {
      if (id !== undefined) this.#add(EXACT_KIND.id, hashId(this.#hasher, member, id));
    }
    this.#grams.add(message);
    // Entries of that version had these in `data`.
    for (const [name, value] of Object.entries({ service, host })) if (value !== undefined) this.#member([name], value);
    if (data !== undefined) this.#members([], data);
  }

  closeBlock(): void {
    for (const table of this.#kinds.values()) table.closeBlock();
    this.#grams = this.#newGrams();
  }

  tables(): Iterable<TokenTable> {
    return this.#kinds.values();
  }

  filter(maxBytes: number): { kinds: number; filter: Uint8Array } {
    const { kinds, count, chosen } = this.#fitting(maxBytes, ({ size }) => size, filterBytes);
    return { kinds, filter: buildFilter(chosen, Math.max(1, filterBytes(count))) };
  }

  blockFilter(maxBytes: number, blocks: number): { kinds: number; filter: Uint8Array; slotBytes: number } {
    const slotBytes = blocks < 2 ? 0 : Math.ceil(blocks / 8);
    const bytes = (pairs: number) => Math.max(1, Math.ceil((pairs * BITS_PER_PAIR) / blocks)) * slotBytes;
    const { kinds, count, chosen } = this.#fitting(maxBytes, ({ pairCount }) => pairCount, bytes);
    const filter = new Uint8Array(bytes(count));
    const slots = filter.length / slotBytes;
    for (const table of slotBytes === 0 ? [] : chosen) {
      table.forEachPair((a, b, block) => {
        for (let slot = 0; slot < SLOTS_PER_TOKEN; slot++) {
          const byte = scaled(slotPosition(a, b, slot), slots) * slotBytes + (block >> 3);
          filter[byte] = (filter[byte] ?? 0) | (1 << (block & 7));
        }
      });
    }
    return { kinds: kinds | ALL_SLOTS, filter, slotBytes };
  }

  #fitting(maxBytes: number, size: (table: BlockTable) => number, bytes: (count: number) => number) {
    const chosen: BlockTable[] = [];
    let kinds = 0;
    let count = 0;
    for (const [kind, table] of this.#kinds) {
      if (bytes(count + size(table)) > maxBytes) continue;
      chosen.push(table);
      kinds |= kind;
      count += size(table);
    }
    return { kinds, count, chosen };
  }

  #newGrams(): GramCollector {
    const table = (kind: number) => this.#kinds.get(kind) ?? new BlockTable();
    return new GramCollector(table(TOKEN_KIND.three), table(TOKEN_KIND.four));
  }

  #members(path: readonly string[], members: object): void {
    for (const [name, value] of Object.entries(members)) this.#member([...path, name], value);
  }

  #member(path: readonly string[], value: unknown): void {
    this.#add(EXACT_KIND.text, hashExactValue(this.#hasher, path, undefined));
    // Indices of arrays are names, like those of an object.
    if (typeof value === "object" && value !== null) {
      this.#members(path, value);
      return;
    }
    if (typeof value === "string") this.#grams.add(value);
    // SAFETY: JSON has no other values.
    const scalar = value as Scalar;
    const kind = typeof value === "string" ? EXACT_KIND.text : EXACT_KIND.scalar;
    this.#add(kind, hashExactValue(this.#hasher, path, scalar));
  }

  #add(kind: number, { a, b }: TokenHash): void {
    this.#kinds.get(kind)?.add(a, b);
  }
}
