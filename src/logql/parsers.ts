import { type EntryLabels, labelName } from "./labels.ts";
import type { Extraction } from "./syntax.ts";

const JSON_ERROR = "JSONParserErr";
const LOGFMT_ERROR = "LogfmtParserErr";

/** Sets a label for each string, number and boolean of a line that is a JSON object. Names of nested members are joined by `_`. */
export function parseJsonLine(line: string, labels: EntryLabels): void {
  const value = jsonOf(line);
  if (isObject(value)) setMembers(value, "", labels);
  else labels.fail(JSON_ERROR, NOT_AN_OBJECT);
}

const NOT_AN_OBJECT = "Value looks like object, but can't find closing '}' symbol";

function setMembers(object: Record<string, unknown>, prefix: string, labels: EntryLabels): void {
  for (const [key, value] of Object.entries(object)) {
    const part = key.trim() === "" ? "" : prefix === "" ? labelName(key) : key.trim().replace(/[^a-zA-Z0-9_]/gu, "_");
    const name = prefix === "" || part === "" ? prefix || part : `${prefix}_${part}`;
    if (isObject(value)) setMembers(value, name, labels);
    else if (name !== "") setOnce(name, textOf(value), labels);
  }
}

/** @param text `null` for a value that is no label */
function setOnce(name: string, text: string | null, labels: EntryLabels): void {
  const free = labels.freeName(name);
  if (text !== null && !labels.isParsed(free)) labels.set(free, text);
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value.replaceAll("\ufffd", " ");
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets the labels of paths in a line that is JSON. A path that the line does not have sets an empty value. */
export function extractJson(line: string, extractions: readonly Extraction[], labels: EntryLabels): void {
  const value = jsonOf(line);
  if (value === undefined) {
    labels.fail(JSON_ERROR, "");
    return;
  }
  for (const { label, path } of extractions) {
    const found = path.reduce<unknown>(memberOf, value);
    const isPlain = typeof found !== "object" || found === null;
    const text = isPlain ? (textOf(found) ?? "") : JSON.stringify(found);
    labels.set(labels.freeName(label), text);
  }
}

function memberOf(value: unknown, name: string | number): unknown {
  if (Array.isArray(value)) return typeof name === "number" ? value[name] : undefined;
  return isObject(value) && typeof name === "string" && Object.hasOwn(value, name) ? value[name] : undefined;
}

export interface LogfmtOptions {
  /** Whether a fault of the line is an error. Otherwise the parser continues behind it. */
  isStrict: boolean;
  keepsEmpty: boolean;
  /** Empty: all pairs become labels. */
  extractions: readonly Extraction[];
}

/** Sets labels of the pairs of a line in logfmt, `a=1 b="x y"`. */
export function parseLogfmtLine(
  line: string,
  { isStrict, keepsEmpty, extractions }: LogfmtOptions,
  labels: EntryLabels,
): void {
  const wanted = new Map(extractions.map(({ label, path }) => [String(path[0] ?? ""), label]));
  for (const { label } of extractions) if (labels.freeName(label) === label) labels.set(label, "");
  for (const pair of pairsOf(line)) {
    if (pair === null) {
      if (!isStrict) continue;
      labels.fail(LOGFMT_ERROR, "logfmt syntax error");
      return;
    }
    const name = labelName(pair.key);
    const value = pair.value.replaceAll("\ufffd", " ");
    if (name === "") continue;
    if (extractions.length > 0) {
      const label = wanted.get(name) ?? (extractions.some((each) => each.label === name) ? name : undefined);
      if (label !== undefined) labels.set(labels.freeName(label), value);
    } else if (value !== "" || keepsEmpty) {
      const free = labels.freeName(name);
      if (!labels.isParsed(free)) labels.set(free, value);
    }
  }
}

interface Pair {
  key: string;
  value: string;
}

/** Yields the pairs of a line, `null` for a fault. Takes time linear in the line. */
export function* pairsOf(line: string): Generator<Pair | null> {
  const { length } = line;
  const isSpace = (at: number) => line.charCodeAt(at) <= 0x20;
  const afterFault = (from: number): number => {
    let to = from;
    while (to < length && !isSpace(to)) to++;
    return to;
  };
  for (let at = 0; at < length; ) {
    while (at < length && isSpace(at)) at++;
    if (at === length) return;
    const start = at;
    while (at < length && !isSpace(at) && line[at] !== "=" && line[at] !== '"') at++;
    const key = line.slice(start, at);
    if (at < length && (line[at] === '"' || (line[at] === "=" && key === ""))) {
      at = afterFault(at);
      yield null;
      continue;
    }
    if (at === length || line[at] !== "=") {
      yield { key, value: "" };
      continue;
    }
    at++;
    if (at === length || isSpace(at)) {
      yield { key, value: "" };
      continue;
    }
    if (line[at] === '"') {
      const end = endOfQuoted(line, at);
      if (end < 0) {
        yield null;
        return;
      }
      const value = unquoted(line.slice(at, end));
      at = end;
      yield value === null ? null : { key, value };
      continue;
    }
    const from = at;
    while (at < length && !isSpace(at) && line[at] !== "=" && line[at] !== '"') at++;
    if (at < length && !isSpace(at)) {
      at = afterFault(at);
      yield null;
    } else yield { key, value: line.slice(from, at) };
  }
}

/** Returns the index behind the closing quotation mark; -1 without one. */
function endOfQuoted(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === '"') return at + 1;
  }
  return -1;
}

function unquoted(text: string): string | null {
  if (!text.includes("\\")) return text.slice(1, -1);
  // JSON has no control characters in strings, and logfmt may.
  const value = jsonOf(text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1)));
  return typeof value === "string" ? value : null;
}
