import { skipSpace } from "../../logs/ingest/check-json.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault } from "../decoder.ts";
import { KeptBytes, nameOf } from "./kept-bytes.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes of a value that are kept. The rest of a longer one is dropped, and its reader gets the beginning. */
export const MAX_VALUE_BYTES = 1024 * 1024;
/** Bytes of a member's name that are kept: names that matter are short. */
const MAX_NAME_BYTES = 256;
/** Nanoseconds for a byte that is searched and perhaps copied, on a fast machine. */
const COST_OF_BYTE = 3;
/** Nanoseconds for a part of a document, and for a name, beside their bytes. */
const COST_OF_PART = 20;
const COST_OF_NAME = 200;

/**
 * A value of a document, and what of it is passed on. An array with `items` and an object with `members` are opened; any
 * other value is passed on whole.
 */
export interface JsonNode {
  name: string;
  items?: JsonNode;
  /** Other members are skipped. */
  members?: Readonly<Record<string, JsonNode>>;
}

/** Receives the parts of a document in their order. */
export interface JsonParts {
  /**
   * A value that is not opened.
   * @param bytes of the value, not checked to be JSON; valid during the call only
   * @param length of the value in the document. `bytes` has less of it if it is larger than the bound.
   */
  value(name: string, bytes: Uint8Array, length: number): void;
  /** An array or object begins. */
  open?(name: string): void;
  /** The last array or object that was opened ends. */
  close?(name: string): void;
}

interface Frame {
  node: JsonNode;
  isList: boolean;
}

/** What the cutter expects next. `member`: a name or the end; `span`: more of a value that is passed on or skipped. */
type Expected = "value" | "item" | "member" | "name" | "in-name" | "colon" | "next" | "span" | "end";

/**
 * Cuts values out of a JSON document that arrives in chunks. Holds a value only if it crosses chunks. Brackets of skipped
 * values are counted, not matched.
 */
export class JsonCutter {
  readonly #root: JsonNode;
  readonly #parts: JsonParts;
  readonly #meter: TurnMeter;
  readonly #isMany: boolean;
  readonly #stack: Frame[] = [];
  /** The value that has not ended in the chunks before. */
  readonly kept: KeptBytes;
  readonly #maxValueBytes: number;
  readonly #name = new KeptBytes(MAX_NAME_BYTES);
  #expected: Expected = "value";
  /** The node of the value that comes next or is read; `null` if it is skipped. */
  #node: JsonNode | null;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasEscape = false;
  /** Index, in the last chunk, of the part that is read: after a fault, of what is not JSON. */
  at = 0;
  /** Whether a document may be a string, a number or a word. Otherwise one is a fault, which sets `isAtText`. */
  takesBareValues = true;
  isAtText = false;

  /**
   * @param isMany whether several documents may follow each other
   * @param maxValueBytes bytes of a value that are kept
   */
  constructor(root: JsonNode, parts: JsonParts, meter: TurnMeter, isMany = false, maxValueBytes = MAX_VALUE_BYTES) {
    this.kept = new KeptBytes(maxValueBytes);
    this.#maxValueBytes = maxValueBytes;
    this.#root = root;
    this.#parts = parts;
    this.#meter = meter;
    this.#isMany = isMany;
    this.#node = root;
  }

  get held(): number {
    return this.kept.held + this.#name.held;
  }

  /** @throws DoorBodyFault if the document is not JSON */
  *read(chunk: Uint8Array): Steps<void> {
    for (let at = 0; at < chunk.length; ) {
      this.at = at;
      at = this.#step(chunk, at);
      this.#meter.spend(COST_OF_PART + (at - this.at) * COST_OF_BYTE);
      if (this.#meter.isDue) yield;
    }
  }

  /** @throws DoorBodyFault if the document has not ended */
  end(): void {
    // Only a number, a word or nothing may end here.
    if (this.#expected === "span" && this.#depth === 0 && !this.#isInString && this.#stack.length === 0) {
      this.#endSpan(new Uint8Array(), 0, 0);
    }
    const isComplete =
      this.#expected === "end" || (this.#isMany && this.#stack.length === 0 && this.#expected === "value");
    if (!isComplete) throw new DoorBodyFault("The body ends within a JSON value.");
    this.kept.free();
  }

  /** Reads as far as one part. @returns index of the next byte */
  #step(bytes: Uint8Array, from: number): number {
    if (this.#expected === "span") return this.#readSpan(bytes, from);
    if (this.#expected === "in-name") return this.#readName(bytes, from);
    const at = skipSpace(bytes, from, bytes.length);
    if (at === bytes.length) return at;
    const byte = bytes[at] ?? 0;
    switch (this.#expected) {
      case "item":
      case "value":
        if (byte === CLOSE_BRACKET && this.#expected === "item") return this.#close(at);
        return this.#begin(bytes, at, byte);
      case "member":
      case "name":
        if (byte === CLOSE_BRACE && this.#expected === "member") return this.#close(at);
        return this.#beginName(at, byte);
      case "colon":
        if (byte !== COLON) return fault();
        this.#expected = "value";
        return at + 1;
      case "next":
        return this.#next(at, byte);
      default:
        return fault();
    }
  }

  #begin(bytes: Uint8Array, at: number, byte: number): number {
    const node = this.#node;
    const isList = byte === OPEN_BRACKET && node?.items !== undefined;
    if (node !== null && (isList || (byte === OPEN_BRACE && node.members !== undefined))) {
      this.#stack.push({ node, isList });
      this.#parts.open?.(node.name);
      this.#expected = isList ? "item" : "member";
      if (isList) this.#node = node.items ?? null;
      return at + 1;
    }
    if (byte === COMMA || byte === COLON || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return fault();
    const isBare = this.#stack.length === 0 && byte !== OPEN_BRACE && byte !== OPEN_BRACKET;
    this.isAtText = isBare && !this.takesBareValues;
    if (this.isAtText) return fault();
    this.#expected = "span";
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    return this.#readSpan(bytes, at);
  }

  #beginName(at: number, byte: number): number {
    if (byte !== QUOTE) return fault();
    this.#expected = "in-name";
    this.#name.clear();
    this.#isEscaped = false;
    this.#hasEscape = false;
    return at + 1;
  }

  #readName(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) {
        this.#isEscaped = true;
        this.#hasEscape = true;
      } else if (byte === QUOTE) {
        this.#name.add(bytes, from, at);
        const { members } = this.#stack.at(-1)?.node ?? this.#root;
        this.#meter.spend(COST_OF_NAME);
        const name = nameOf(this.#name.bytes, this.#hasEscape);
        this.#node = members !== undefined && Object.hasOwn(members, name) ? (members[name] ?? null) : null;
        this.#expected = "colon";
        return at + 1;
      }
    }
    this.#name.add(bytes, from, bytes.length);
    return bytes.length;
  }

  /** Reads a value to its end, or to the end of the bytes. */
  #readSpan(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let depth = this.#depth;
    let isInString = this.#isInString;
    let at = from;
    if (this.#isEscaped && at < length) {
      at++;
      this.#isEscaped = false;
    }
    for (; at < length; at++) {
      if (isInString) {
        let byte = bytes[at];
        while (byte !== QUOTE && byte !== BACKSLASH && at < length) byte = bytes[++at];
        if (at >= length) break;
        if (byte === BACKSLASH) {
          at++;
          if (at === length) this.#isEscaped = true;
          continue;
        }
        isInString = false;
        if (depth === 0) return this.#endSpan(bytes, from, at + 1);
        continue;
      }
      switch (bytes[at]) {
        case QUOTE:
          if (depth === 0 && at > from) return fault();
          isInString = true;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (depth === 0 && (at > from || this.kept.length > 0)) return fault();
          depth++;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          if (depth === 0) return this.#endSpan(bytes, from, at);
          if (--depth === 0) return this.#endSpan(bytes, from, at + 1);
          break;
        case COMMA:
        case 0x20:
        case 0x0a:
        case 0x0d:
        case 0x09:
          if (depth === 0) return this.#endSpan(bytes, from, at);
      }
    }
    this.#depth = depth;
    this.#isInString = isInString;
    if (this.#node !== null) this.kept.add(bytes, from, length);
    return length;
  }

  #endSpan(bytes: Uint8Array, from: number, to: number): number {
    const node = this.#node;
    if (node !== null) {
      if (this.kept.length === 0 && to - from <= this.#maxValueBytes) {
        this.#parts.value(node.name, bytes.subarray(from, to), to - from);
      } else {
        this.kept.add(bytes, from, to);
        this.#parts.value(node.name, this.kept.bytes, this.kept.length);
        this.kept.clear();
      }
    }
    this.#ended();
    return to;
  }

  #close(at: number): number {
    const frame = this.#stack.pop();
    if (frame !== undefined) this.#parts.close?.(frame.node.name);
    this.#ended();
    return at + 1;
  }

  /** A value has ended. */
  #ended(): void {
    if (this.#stack.length > 0) this.#expected = "next";
    else {
      this.#expected = this.#isMany ? "value" : "end";
      this.#node = this.#root;
    }
  }

  #next(at: number, byte: number): number {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return fault();
    if (byte === (frame.isList ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#close(at);
    if (byte !== COMMA) return fault();
    this.#expected = frame.isList ? "value" : "name";
    if (frame.isList) this.#node = frame.node.items ?? null;
    return at + 1;
  }
}

function fault(): never {
  throw new DoorBodyFault("The body is not valid JSON.");
}
