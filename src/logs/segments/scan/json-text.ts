import { toByteString } from "../../query/case-folding.ts";
import type { Texts } from "../decode/column-values.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns a string as `JSON.stringify` writes it: bytes of UTF-8, one character each. */
export function jsonTextAt(texts: Texts, index: number): string {
  const { bytes } = texts;
  const start = texts.startOf(index);
  const end = texts.endOf(index);
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) return toByteString(JSON.stringify(texts.at(index)));
  }
  return `"${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1")}"`;
}
