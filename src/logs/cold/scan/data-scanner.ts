import { TokenHasher } from "../filter/bloom.ts";
import { atMember, MARK, type TokenHash } from "../filter/tokens.ts";
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
/** Is before the index of an item in the hash of its path: no name has this unit. */
const ITEM = 0x20000;
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
        const { isPlain, decoded } = this.#text;
        path.named(bytes, at, next, isPlain && decoded === null ? null : this.#lastName());
        follow(parent, previous, path);
      }
      if (path.round !== this.#tokens.round) this.#tokens.addName(path.name, at + 1, next - 2);
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
    const hasher = this.#hasher.reset(parent.a, parent.b);
    if (this.#bytes[at] !== QUOTE || !this.#text.hash(this.#bytes, at + 1, this.#end, hasher)) return null;
    if (!this.#isCheap() || this.#bytes[this.#text.next] !== COLON) return null;
    return this.#paths.find(hasher.a, hasher.b, parent, this.#memberToken);
  }

  /** Returns the hash of the tokens of a member with the name that was read last. */
  readonly #memberToken = (parent: Path): TokenHash => {
    const { a, b } = atMember(this.#at(parent), this.#lastName(), parent !== this.#paths.root);
    return { a, b };
  };

  /** Returns the name that was read last. */
  #lastName(): string {
    const { bytes, from, to, decoded } = this.#text;
    return decoded ?? Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  }

  #array(open: number, parent: Path, depth: number): number {
    const bytes = this.#bytes;
    if (bytes[open + 1] === CLOSE_ARRAY) return open + 2;
    let previous: Path | null = null;
    for (let at = open + 1, index = 0; ; index++) {
      let path: Path | null = previous === null ? parent.firstChild : previous.next;
      if (path === null || path.index !== index || path.parent !== parent) {
        const { a, b } = this.#hasher.reset(parent.a, parent.b).unit(ITEM).text(String(index));
        path = this.#paths.find(a, b, parent, tokenOf);
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
    const { round } = this.#tokens;
    // The last value counts if a name occurs twice, so the line must be parsed.
    if (path.line === this.#line || depth > MAX_DEPTH) return NONE;
    path.line = this.#line;
    const again = path.value.again(this.#bytes, at, round);
    if (again >= 0) return again;
    if (path.round !== round) {
      path.round = round;
      // The array that has an item has added this token.
      if (path.index < 0) this.#add(this.#tokens.texts, this.#at(path).unit(MARK.any));
    }
    const byte = this.#bytes[at];
    if (byte === OPEN_OBJECT) return this.#object(at, path, depth + 1);
    if (byte === OPEN_ARRAY) return this.#array(at, path, depth + 1);
    const behind = this.#scalar(at, byte, this.#at(path));
    if (behind >= 0) path.value.remember(this.#bytes, at, behind, round);
    return behind;
  }

  /** @param hasher state at the value's path */
  #scalar(at: number, byte: number | undefined, hasher: TokenHasher): number {
    switch (byte) {
      case QUOTE:
        return this.#string(at, hasher);
      case TRUE[0]:
        return this.#word(at, TRUE, hasher.unit(MARK.value).text("true"));
      case FALSE[0]:
        return this.#word(at, FALSE, hasher.unit(MARK.value).text("false"));
      case NULL[0]:
        return this.#word(at, NULL, hasher.unit(MARK.null));
      default:
        return this.#numeric(at, hasher.unit(MARK.value));
    }
  }

  #string(at: number, hasher: TokenHasher): number {
    const isText = this.#text.hashFolded(this.#bytes, at + 1, this.#end, hasher.unit(MARK.value));
    if (!isText || !this.#isCheap()) return NONE;
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

  /** Whether the text that was read last leaves the line cheaper to scan than to parse. */
  #isCheap(): boolean {
    return this.#text.decoded === null || ++this.#strings <= MAX_STRINGS;
  }

  #at({ token }: Path): TokenHasher {
    return this.#hasher.reset(token.a, token.b);
  }

  #add(list: LineTokens["texts"], hasher: TokenHasher): void {
    const { a, b } = hasher.finish();
    list.pushPair(a, b);
  }
}

/** An item has the path of its array. */
function tokenOf({ token }: Path): TokenHash {
  return token;
}

/** The next line is likely to have the path at the same position. */
function follow(parent: Path, previous: Path | null, path: Path): void {
  if (previous === null) parent.firstChild = path;
  else previous.next = path;
}
