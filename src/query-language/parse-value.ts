import { nearest, SyntaxFault } from "./error.ts";
import { printField } from "./fields.ts";
import { type ParserState, QUERY_LIMITS, type QueryReader } from "./reader.ts";
import { type Comparison, type Field, LEVEL_NAMES, type Scalar, type ValueTest } from "./syntax.ts";
import type { TableColumn } from "./table-columns.ts";
import { parseLevel, parseNumber, parseTime } from "./values.ts";

/** The field that a value is tested against. */
interface Target {
  /** As it is written. */
  name: string;
  /** What its values are. `any`: they may have any type. */
  type: "level" | "time" | "number" | "text" | "any";
}

function targetOf(field: Field, columns: readonly TableColumn[] | null): Target {
  const name = printField(field);
  if (field.kind === "data") return { name, type: "any" };
  if (field.kind === "column")
    return { name, type: columns?.find((column) => column.name === field.name)?.type ?? "any" };
  switch (field.name) {
    case "level":
      return { name, type: "level" };
    case "time":
    case "received":
      return { name, type: "time" };
    case "seq":
      return { name, type: "number" };
    default:
      return { name, type: "text" };
  }
}

const OPERATORS = [">=", "<=", ">", "<"] as const;
const ACCEPTED = ["a value", "*", "(", ...OPERATORS];

/** Reads the value after the colon. */
export function parseValue(state: ParserState, field: Field): ValueTest {
  const target = targetOf(field, state.columns);
  state.reader.expect("value", state.columns, field, target.type === "level" ? LEVEL_NAMES : []);
  return parseTest(state, target, field, 0);
}

function parseTest(state: ParserState, target: Target, field: Field, depth: number): ValueTest {
  const { reader } = state;
  const { name, type } = target;
  if (reader.next === "(") return parseList(state, target, field, depth);
  const start = reader.at;
  const regex = reader.regex();
  if (regex !== null) {
    if (type === "time" || type === "number") throw unfit(target, start);
    return regex;
  }
  if (reader.take("!=", "operator")) {
    const value = reader.peekWord() || "value";
    throw new SyntaxFault("`!=` is written as a negated test", start, ["-field:value"], `-${name}:${value}`);
  }
  for (const operator of OPERATORS) {
    if (reader.take(operator, "operator")) return parseComparison(reader, target, operator);
  }
  if (reader.take("=", "operator")) return parseExact(reader, target, start);
  const quoted = reader.quoted("value");
  if (quoted !== null) return testOf(target, quoted, start);
  const word = reader.word("value");
  if (word === "") throw new SyntaxFault("A value is missing", start, ACCEPTED);
  return parseRange(target, word, start) ?? testOfWord(target, word, start);
}

function parseList(state: ParserState, target: Target, field: Field, depth: number): ValueTest {
  const { reader } = state;
  const start = reader.at;
  if (depth >= QUERY_LIMITS.depth)
    throw new SyntaxFault(`The query is nested more than ${QUERY_LIMITS.depth} deep`, start, []);
  reader.take("(", "operator");
  const tests: ValueTest[] = [];
  for (;;) {
    reader.skipSpace();
    reader.expect("value", state.columns, field, target.type === "level" ? LEVEL_NAMES : []);
    if (reader.isAtEnd || reader.next === ")") throw new SyntaxFault("A value is missing", reader.at, ACCEPTED);
    if (tests.length > 0 && ++state.atoms > QUERY_LIMITS.atoms) {
      throw new SyntaxFault(`The query has more than ${QUERY_LIMITS.atoms} tests`, reader.at, []);
    }
    const test = parseTest(state, target, field, depth + 1);
    tests.push(...(test.kind === "anyOf" ? test.tests : [test]));
    reader.skipSpace();
    if (reader.takeKeyword("OR")) continue;
    if (reader.take(")", "operator")) break;
    if (reader.isAtEnd) throw new SyntaxFault("The parenthesis is not closed", start, [")", "OR"]);
    throw new SyntaxFault("The values of a list are joined by `OR`", reader.at, ["OR", ")"], `OR ${reader.peekWord()}`);
  }
  const [only] = tests;
  return tests.length === 1 && only ? only : { kind: "anyOf", tests };
}

function parseComparison(reader: QueryReader, target: Target, operator: Comparison): ValueTest {
  const start = reader.at;
  const text = reader.word("value");
  if (text === "") {
    const following = /^\s*([^\s()|,"]+)/.exec(reader.text.slice(start))?.[1];
    const meant = following === undefined ? undefined : `${target.name}:${operator}${following}`;
    throw new SyntaxFault("A value is missing", start, [nounOf(target)], meant);
  }
  const value = scalarOf(target, text);
  if (value === null) throw unfit(target, start, text);
  return { kind: "compare", operator, value };
}

function parseExact(reader: QueryReader, target: Target, start: number): ValueTest {
  const { at } = reader;
  const text = reader.quoted("value") ?? reader.word("value");
  if (text === "" && reader.text[at] !== '"') throw new SyntaxFault("A value is missing", at, ["a string"]);
  if (target.type === "time" || target.type === "number") {
    throw new SyntaxFault(
      `\`=\` compares strings, and \`${target.name}\` is not a string`,
      start,
      [nounOf(target)],
      text,
    );
  }
  return { kind: "exact", text: target.type === "level" ? levelNamed(text, at) : text };
}

/** Reads `from..to`. @returns `null` if the word is no range */
function parseRange(target: Target, word: string, start: number): ValueTest | null {
  const { name } = target;
  for (let at = word.indexOf(".."); at >= 0; at = word.indexOf("..", at + 1)) {
    const [left, right] = [word.slice(0, at), word.slice(at + 2)];
    const [from, to] = [scalarOf(target, left), scalarOf(target, right)];
    if (left === "" && to !== null) {
      throw new SyntaxFault("The range has no beginning", start, ["from..to"], `${name}:<=${right}`);
    }
    if (right === "" && from !== null) {
      throw new SyntaxFault("The range has no end", start, ["from..to"], `${name}:>=${left}`);
    }
    if (from === null || to === null) continue;
    if (isReversed(from, to)) {
      throw new SyntaxFault("The range ends before it begins", start, ["from..to"], `${name}:${right}..${left}`);
    }
    return { kind: "range", from, to };
  }
  return null;
}

/** Times that are equal leave nothing between them. */
function isReversed(from: Scalar, to: Scalar): boolean {
  const [fromKind, left] = orderOf(from);
  const [toKind, right] = orderOf(to);
  return fromKind === toKind && (from.kind === "time" ? left >= right : left > right);
}

/** Returns what a scalar can be compared with, and its place among those. */
function orderOf(scalar: Scalar): [kind: string, order: number] {
  if (scalar.kind === "number") return [scalar.kind, scalar.value];
  if (scalar.kind === "level") return [scalar.kind, LEVEL_NAMES.indexOf(scalar.level)];
  const { time } = scalar;
  return [time.kind, time.kind === "ago" ? -time.ms : time.from];
}

function testOfWord(target: Target, word: string, start: number): ValueTest {
  if (/^\*+$/.test(word)) return { kind: "exists" };
  if (!word.includes("*")) return testOf(target, word, start);
  if (target.type === "time" || target.type === "number") throw unfit(target, start, word);
  return { kind: "wildcard", pattern: word };
}

function testOf(target: Target, text: string, start: number): ValueTest {
  if (target.type === "any" || target.type === "text") return { kind: "is", text };
  if (target.type === "level") return { kind: "is", text: levelNamed(text, start) };
  const scalar = scalarOf(target, text);
  if (scalar === null) throw unfit(target, start, text);
  return scalar.kind === "time" ? { kind: "during", time: scalar.time } : { kind: "is", text };
}

function scalarOf({ type }: Target, text: string): Scalar | null {
  switch (type) {
    case "level": {
      const level = parseLevel(text);
      return level && { kind: "level", level };
    }
    case "time": {
      const time = parseTime(text);
      return time && { kind: "time", time };
    }
    case "text":
      return null;
    default: {
      const value = parseNumber(text);
      return value === null ? null : { kind: "number", value };
    }
  }
}

/** Names of levels in other systems. */
const FOREIGN_LEVELS: ReadonlyMap<string, string> = new Map([
  ["warning", "warn"],
  ["err", "error"],
  ["critical", "fatal"],
  ["crit", "fatal"],
  ["emergency", "fatal"],
  ["alert", "fatal"],
  ["panic", "fatal"],
  ["notice", "info"],
  ["information", "info"],
  ["verbose", "debug"],
]);

function levelNamed(text: string, start: number): string {
  const level = parseLevel(text);
  if (level === null) throw unfit({ name: "level", type: "level" }, start, text);
  return level;
}

function nounOf({ type }: Target): string {
  switch (type) {
    case "level":
      return "a level";
    case "time":
      return "a time or a duration";
    case "text":
      return "a text";
    default:
      return "a number";
  }
}

/** Why a value does not suit its field. */
function unfit(target: Target, start: number, text = ""): SyntaxFault {
  const { name, type } = target;
  switch (type) {
    case "level": {
      const meant = FOREIGN_LEVELS.get(text.toLowerCase()) ?? nearest(text, LEVEL_NAMES);
      return new SyntaxFault(`Unknown level \`${text}\``, start, LEVEL_NAMES, meant);
    }
    case "time":
      return new SyntaxFault(`\`${name}\` takes a time or a duration, such as \`2026-11-22T10:30\` or \`1h\``, start, [
        "a time",
        "a duration",
      ]);
    case "text":
      return new SyntaxFault(`\`${name}\` is text, which \`<\`, \`>\` and ranges do not compare`, start, ["a text"]);
    default: {
      const what = text === "" ? "a regular expression" : `\`${text}\``;
      return new SyntaxFault(`\`${name}\` is compared with a number, and ${what} is not a number`, start, ["a number"]);
    }
  }
}
