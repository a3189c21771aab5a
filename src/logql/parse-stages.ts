import { LogqlError } from "./error.ts";
import { parseLabelTest } from "./parse-label-tests.ts";
import { parseTemplate } from "./parse-template.ts";
import type {
  Conversion,
  Extraction,
  LabelFormat,
  LineFilter,
  LineOperator,
  Matcher,
  MatchOperator,
  NamedLabel,
  Stage,
  Unwrap,
} from "./syntax.ts";
import { LOGQL_LIMITS, type TokenReader, unsupported } from "./token-reader.ts";

const LINE_OPERATORS = ["|=", "!=", "|~", "!~"] as const satisfies readonly LineOperator[];
const UNSUPPORTED_STAGES: ReadonlySet<string> = new Set([
  ...["regexp", "pattern", "unpack", "decolorize", "distinct", "line_match"],
]);
const STRICT = "--strict";
const KEEP_EMPTY = "--keep-empty";

/** A stage, or the `unwrap` that ends the stages of a metric. */
export type ParsedStage = Stage | { kind: "unwrap"; unwrap: Unwrap };

/** Whether the next token begins a stage. */
export function isStage(reader: TokenReader): boolean {
  return reader.isSymbol("|", "|=", "!=", "|~", "!~", "|>", "!>");
}

/** @throws LogqlError */
export function parseStage(reader: TokenReader): ParsedStage {
  if (reader.isSymbol("|>", "!>")) throw unsupported(`the pattern filter ${reader.token.text}`, reader.token.start);
  const operator = LINE_OPERATORS.find((each) => reader.isSymbol(each));
  if (operator !== undefined) return parseLineFilter(reader, operator);
  reader.expectSymbol("|");
  const { token } = reader;
  const isTest = reader.peek(1).kind === "symbol" && /^(=|==|!=|=~|!~|>|>=|<|<=)$/.test(reader.peek(1).text);
  if (token.kind !== "name" || isTest) return { kind: "label", test: parseLabelTest(reader) };
  if (UNSUPPORTED_STAGES.has(token.text)) throw unsupported(`| ${token.text}`, token.start);
  switch (token.text) {
    case "json":
      reader.next();
      return { kind: "json", extractions: parseExtractions(reader) };
    case "logfmt": {
      reader.next();
      const flags: string[] = [];
      while (reader.is("flag")) flags.push(parseFlag(reader));
      const extractions = parseExtractions(reader);
      return { kind: "logfmt", isStrict: flags.includes(STRICT), keepsEmpty: flags.includes(KEEP_EMPTY), extractions };
    }
    case "line_format": {
      reader.next();
      const { text, start } = reader.expect("string");
      return { kind: "line_format", template: parseTemplate(text, start) };
    }
    case "label_format":
      reader.next();
      return { kind: "label_format", formats: parseFormats(reader) };
    case "drop":
    case "keep":
      reader.next();
      return { kind: token.text, labels: listOf(reader, parseNamedLabel) };
    case "unwrap":
      reader.next();
      return { kind: "unwrap", unwrap: parseUnwrap(reader) };
    default:
      return { kind: "label", test: parseLabelTest(reader) };
  }
}

function parseFlag(reader: TokenReader): string {
  const { text, start } = reader.next();
  if (text === STRICT || text === KEEP_EMPTY) return text;
  throw new LogqlError(`unknown flag ${text}`, start);
}

function parseLineFilter(reader: TokenReader, operator: LineOperator): LineFilter {
  reader.next();
  const texts = [parseLineText(reader)];
  while (reader.is("name", "or") && ["string", "name"].includes(reader.peek(1).kind)) {
    reader.next();
    texts.push(parseLineText(reader));
    if (texts.length > LOGQL_LIMITS.items) throw new LogqlError("too many texts in a line filter", reader.token.start);
  }
  return { kind: "line", operator, texts };
}

function parseLineText(reader: TokenReader): string {
  if (reader.is("name", "ip")) throw unsupported("ip() in a line filter", reader.token.start);
  return reader.expect("string").text;
}

function listOf<T>(reader: TokenReader, parse: (reader: TokenReader) => T): T[] {
  const items = [parse(reader)];
  while (reader.isSymbol(",")) {
    reader.next();
    if (items.length >= LOGQL_LIMITS.items) throw new LogqlError("too many items in a list", reader.token.start);
    items.push(parse(reader));
  }
  return items;
}

function parseExtractions(reader: TokenReader): Extraction[] {
  return reader.is("name") && !reader.is("name", "offset") ? listOf(reader, parseExtraction) : [];
}

function parseExtraction(reader: TokenReader): Extraction {
  const { text: label, start } = reader.expect("name");
  if (!reader.takesSymbol("=")) return { label, path: pathOf(label, start), text: label };
  const { text, start: at } = reader.expect("string");
  return { label, path: pathOf(text, at), text };
}

const NAME_IN_PATH = /[\p{L}_][\p{L}\p{N}_-]*/uy;
const INDEX_IN_PATH = /\[([0-9]+)\]/y;
const QUOTED_IN_PATH = /\["((?:[^"\\]|\\.)*)"\]/y;

/** Reads a path such as `a.b[0]["c d"]`. */
function pathOf(text: string, position: number): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = 0; at < text.length; ) {
    const read = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match !== null) at = pattern.lastIndex;
      return match;
    };
    if (path.length > 0 && text[at] === ".") at++;
    else if (path.length > 0 && text[at] !== "[") throw new LogqlError(`cannot parse expression [${text}]`, position);
    const index = read(INDEX_IN_PATH);
    const quoted = index === null ? read(QUOTED_IN_PATH) : null;
    const name = index === null && quoted === null ? read(NAME_IN_PATH) : null;
    if (index !== null) path.push(Number(index[1]));
    else if (quoted !== null) path.push((quoted[1] ?? "").replace(/\\(.)/g, "$1"));
    else if (name !== null) path.push(name[0]);
    else throw new LogqlError(`cannot parse expression [${text}]`, position);
  }
  if (path.length === 0) throw new LogqlError("cannot parse expression []", position);
  return path;
}

function parseFormats(reader: TokenReader): LabelFormat[] {
  const { start } = reader.token;
  const formats = listOf(reader, parseFormat);
  const labels = formats.map(({ label }) => label);
  const twice = labels.find((label, at) => labels.indexOf(label) !== at);
  if (twice !== undefined)
    throw new LogqlError(`multiple label name '${twice}' not allowed in a single format operation`, start);
  return formats;
}

function parseFormat(reader: TokenReader): LabelFormat {
  const { text: label, start } = reader.expect("name");
  if (label === "__error__") throw new LogqlError(`${label} cannot be formatted`, start);
  reader.expectSymbol("=");
  if (reader.is("name")) return { label, from: reader.next().text };
  const { text, start: at } = reader.expect("string");
  return { label, template: parseTemplate(text, at) };
}

const MATCH_OPERATORS = ["=", "!=", "=~", "!~"] as const satisfies readonly MatchOperator[];

function parseNamedLabel(reader: TokenReader): NamedLabel {
  const { text: name } = reader.expect("name");
  const operator = MATCH_OPERATORS.find((each) => reader.isSymbol(each));
  if (operator === undefined || reader.peek(1).kind !== "string") return { name, matcher: null };
  reader.next();
  const matcher: Matcher = { name, operator, value: reader.next().text };
  return { name, matcher };
}

const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  duration: "duration",
  duration_seconds: "duration",
  bytes: "bytes",
};

function parseUnwrap(reader: TokenReader): Unwrap {
  const { text, start } = reader.expect("name");
  if (!reader.isSymbol("(")) return { label: text, conversion: "number", tests: [] };
  const conversion = CONVERSIONS[text];
  if (conversion === undefined) throw unsupported(`unwrap ${text}()`, start);
  reader.next();
  const { text: label } = reader.expect("name");
  reader.expectSymbol(")");
  return { label, conversion, tests: [] };
}
