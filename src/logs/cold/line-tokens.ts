import type { JsonText } from "./json-text.ts";
import { Uint32List } from "./uint32-list.ts";

const FIRST_SCRATCH_BYTES = 1024;

/**
 * The tokens of one line as its bytes are looked through: they count only once all of the line has been understood.
 * Hashes are two numbers each. Texts whose grams count are ranges of bytes, or strings where they are not ASCII.
 */
export class LineTokens {
  /** Number of the frame that they go into, from 1. What has been seen in a line of it adds nothing in the next one. */
  block = 1;
  readonly ids = new Uint32List();
  readonly texts = new Uint32List();
  readonly scalars = new Uint32List();
  /** Texts that stand in the line as they are. */
  readonly plain = new Uint32List();
  /** Texts that had escapes, as ASCII in `scratch`. */
  readonly unescaped = new Uint32List();
  decoded: string[] = [];
  scratch = new Uint8Array(FIRST_SCRATCH_BYTES);
  #scratchLength = 0;

  /** The grams of this text count. */
  addText(text: JsonText): void {
    if (text.decoded !== null) this.decoded.push(text.decoded);
    else if (text.isPlain) this.plain.pushPair(text.from, text.to);
    else this.#keep(text);
  }

  /** Another frame begins, or what was seen was not added: all counts as new. */
  forget(): void {
    this.block++;
  }

  clear(): void {
    this.ids.clear();
    this.texts.clear();
    this.scalars.clear();
    this.plain.clear();
    this.unescaped.clear();
    if (this.decoded.length > 0) this.decoded = [];
    this.#scratchLength = 0;
  }

  /** The reader's own bytes hold the next text with escapes soon. */
  #keep({ bytes, from, to }: JsonText): void {
    const start = this.#scratchLength;
    const end = start + to - from;
    if (end > this.scratch.length) {
      const grown = new Uint8Array(end * 2);
      grown.set(this.scratch);
      this.scratch = grown;
    }
    for (let at = from; at < to; at++) this.scratch[start + at - from] = bytes[at] ?? 0;
    this.unescaped.pushPair(start, end);
    this.#scratchLength = end;
  }
}
