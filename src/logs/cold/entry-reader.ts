import { type Entry, LEVELS } from "../entry.ts";
import { parseStoredLine } from "../stored-line.ts";
import { LineScanner } from "./line-scanner.ts";
import type { SourceLine } from "./lines.ts";
import { TokenCollector } from "./token-collector.ts";
import { type TypePair, TypePairs } from "./type-pairs.ts";

/** Lines that are parsed at once, at most, after one that was looked through in vain: a segment's lines are alike. */
const MOST_PASSED = 31;

/**
 * Reads a segment's entries, one after another, and collects their tokens. Nearly all lines are understood from their
 * bytes; any other is parsed, which costs five times as much and comes to the same.
 */
export class SegmentEntryReader {
  readonly tokens = new TokenCollector();
  /** Of the entry that was read last. */
  severity = 0;
  pair: TypePair;
  readonly #pairs = new TypePairs();
  readonly #scanner = new LineScanner(this.#pairs);
  /** Lines still to be parsed at once, and how many there were to be. */
  #left = 0;
  #passed = 0;

  constructor() {
    this.pair = this.#scanner.pair;
  }

  /** @throws RangeError where a line is no entry */
  read({ batch: { body }, start, end, isTimed }: SourceLine): void {
    const scanner = this.#scanner;
    if (isTimed && this.#left === 0 && scanner.scan(body, start, end)) {
      this.#passed = 0;
      this.severity = scanner.severity;
      this.pair = scanner.pair;
      this.tokens.addLine(scanner.tokens, body);
      return;
    }
    if (this.#left > 0) this.#left--;
    else if (isTimed) this.#left = this.#passed = Math.min(MOST_PASSED, this.#passed * 2 + 1);
    const entry = parsed(body, start, end);
    this.severity = LEVELS.indexOf(entry.level);
    this.pair = this.#pairs.of(entry.category, entry.type);
    this.tokens.add(entry);
  }

  /** All entries of a frame have been read. */
  closeBlock(): void {
    this.tokens.closeBlock();
    this.#scanner.tokens.forget();
  }
}

/** Parsed one by one and let go of: parsed, a range of small members takes twenty times its bytes. */
function parsed(body: Uint8Array, start: number, end: number): Entry {
  const entry = parseStoredLine(Buffer.from(body.buffer, body.byteOffset + start, end - start).toString("utf8"));
  if (entry === null) throw new RangeError("A line is no entry.");
  return entry;
}
