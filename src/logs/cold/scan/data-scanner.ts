import { TokenHasher } from "../filter/bloom.ts";
import { MARK } from "../filter/tokens.ts";
import { JsonNumber, type JsonText } from "./json-text.ts";
import { type LineTokens, type Path, PathTable } from "./line-tokens.ts";

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const TRUE = new TextEncoder().encode("true");
const FALSE = new TextEncoder().encode("false");
const NULL = new TextEncoder().encode("null");

/** Ingest accepts no deeper `data`. */
const MAX_DEPTH = 40;
/**
 * Maximum number of texts and numbers of a line that are made into strings one by one. With more, parsing the line is
 * cheaper.
 */
const MAX_STRINGS = 12;
/** Returned as the index after a value that is not there. */
const NONE = -1;

/**
 * Finds the tokens of `data` in the bytes of a line, without making objects and strings. Accepts JSON as
 * `JSON.stringify` writes it. The caller must parse any other line.
 */
export class DataScanner {
  readonly #tokens: LineTokens;
  readonly #text: JsonText;
  readonly #hasher = new TokenHasher();
  readonly #number = new JsonNumber();
  readonly #paths = new PathTable();
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;
  #line = 0;
  #strings = 0;

  constructor(tokens: LineTokens, text: JsonText) {
    this.#tokens = tokens;
    this.#text = text;
  }

  /**
   * @param at index of the opening brace
   * @param end of the line
   * @returns the index after the closing brace; negative if the value must be parsed
   */
  scan(bytes: Uint8Array, at: number, end: number): number {
    this.#bytes = bytes;
    this.#end = end;
    this.#line++;
    this.#strings = 0;
    this.#paths.beginLine();
    return bytes[at] === OPEN_OBJECT ? this.#object(at, this.#paths.root, 1) : NONE;
  }

  #object(open: number, parent: Path, depth: number): number {
    const bytes = this.#bytes;
    if (bytes[open + 1] === CLOSE_OBJECT) return open + 2;
    let previous: Path | null = null;
    for (let at = open + 1; ; ) {
      let path: Path | null = previous === null ? parent.firstChild : previous.next;
      // A path with the same hash but another parent may have been cached here.
      let next = path !== null && path.parent === parent ? path.behindName(bytes, at) : NONE;
      if (path === null || next < 0) {
        path = this.#named(at, parent);
        if (path === null) return NONE;
        next = this.#text.next + 1;
        path.named(bytes, at, next);
        follow(parent, previous, path);
      }
      at = this.#value(next, path, depth);
      if (at < 0) return NONE;
      const byte = bytes[at++];
      if (byte === CLOSE_OBJECT) return at;
      if (byte !== COMMA) return NONE;
      previous = path;
    }
  }

  /** Returns the path of the member whose name begins at the index. A value follows the name. */
  #named(at: number, parent: Path): Path | null {
    const hasher = this.#at(parent);
    if (this.#bytes[at] !== QUOTE || !this.#hash(at + 1, hasher)) return null;
    return this.#bytes[this.#text.next] === COLON ? this.#paths.find(hasher.a, hasher.b, parent) : null;
  }

  #array(open: number, parent: Path, depth: number): number {
    const bytes = this.#bytes;
    if (bytes[open + 1] === CLOSE_ARRAY) return open + 2;
    let previous: Path | null = null;
    for (let at = open + 1, index = 0; ; index++) {
      let path: Path | null = previous === null ? parent.firstChild : previous.next;
      if (path === null || path.index !== index || path.parent !== parent) {
        const { a, b } = this.#hasher.reset(parent.a, parent.b).text(String(index));
        path = this.#paths.find(a, b, parent);
        if (path === null) return NONE;
        path.index = index;
        follow(parent, previous, path);
      }
      at = this.#value(at, path, depth);
      if (at < 0) return NONE;
      const byte = bytes[at++];
      if (byte === CLOSE_ARRAY) return at;
      if (byte !== COMMA) return NONE;
      previous = path;
    }
  }

  #value(at: number, path: Path, depth: number): number {
    const { block } = this.#tokens;
    // The last value counts if a name occurs twice, so the line must be parsed.
    if (path.line === this.#line || depth > MAX_DEPTH) return NONE;
    path.line = this.#line;
    const again = path.value.again(this.#bytes, at, block);
    if (again >= 0) return again;
    if (path.block !== block) {
      path.block = block;
      this.#add(this.#tokens.texts, this.#at(path).unit(MARK.any));
    }
    const byte = this.#bytes[at];
    if (byte === OPEN_OBJECT) return this.#object(at, path, depth + 1);
    if (byte === OPEN_ARRAY) return this.#array(at, path, depth + 1);
    const behind = this.#scalar(at, byte, this.#at(path));
    if (behind >= 0) path.value.remember(this.#bytes, at, behind, block);
    return behind;
  }

  /** @param hasher state at the value's path */
  #scalar(at: number, byte: number | undefined, hasher: TokenHasher): number {
    switch (byte) {
      case QUOTE:
        return this.#string(at, hasher);
      case TRUE[0]:
        return this.#word(at, TRUE, hasher.unit(MARK.boolean).unit(1));
      case FALSE[0]:
        return this.#word(at, FALSE, hasher.unit(MARK.boolean).unit(0));
      case NULL[0]:
        return this.#word(at, NULL, hasher.unit(MARK.null));
      default:
        return this.#numeric(at, hasher.unit(MARK.number));
    }
  }

  #string(at: number, hasher: TokenHasher): number {
    if (!this.#hash(at + 1, hasher.unit(MARK.string))) return NONE;
    this.#add(this.#tokens.texts, hasher);
    this.#tokens.addText(this.#text);
    return this.#text.next;
  }

  #numeric(at: number, hasher: TokenHasher): number {
    const bytes = this.#bytes;
    const number = this.#number;
    if (!number.read(bytes, at, this.#end)) return NONE;
    if (number.isShortest) hasher.ascii(bytes, at, number.next);
    else {
      if (++this.#strings > MAX_STRINGS) return NONE;
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, number.next - at).toString("latin1");
      hasher.text(String(Number(text)));
    }
    this.#add(this.#tokens.scalars, hasher);
    return number.next;
  }

  #word(at: number, word: Uint8Array, hasher: TokenHasher): number {
    for (let index = 1; index < word.length; index++) if (this.#bytes[at + index] !== word[index]) return NONE;
    this.#add(this.#tokens.scalars, hasher);
    return at + word.length;
  }

  #hash(at: number, hasher: TokenHasher): boolean {
    const text = this.#text;
    return text.hash(this.#bytes, at, this.#end, hasher) && (text.decoded === null || ++this.#strings <= MAX_STRINGS);
  }

  #at({ a, b }: Path): TokenHasher {
    return this.#hasher.reset(a, b);
  }

  #add(list: LineTokens["texts"], hasher: TokenHasher): void {
    const { a, b } = hasher.finish();
    list.pushPair(a, b);
  }
}

/** The next line is likely to have the path at the same position. */
function follow(parent: Path, previous: Path | null, path: Path): void {
  if (previous === null) parent.firstChild = path;
  else previous.next = path;
}
