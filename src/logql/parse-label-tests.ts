import { LogqlError } from "./error.ts";
import type { CompareOperator, LabelTest, Matcher, MatchOperator } from "./syntax.ts";
import { LOGQL_LIMITS, type TokenReader, unsupported } from "./token-reader.ts";
import { bytesOf, durationOf } from "./units.ts";

const MATCH_OPERATORS = ["=", "!=", "=~", "!~"] as const satisfies readonly MatchOperator[];
const COMPARE_OPERATORS = ["=", "==", "!=", ">", ">=", "<", "<="] as const;

/** Reads `{a="x", b!="y"}`. @throws LogqlError */
export function parseSelector(reader: TokenReader): Matcher[] {
  reader.expectSymbol("{");
  const matchers: Matcher[] = [];
  while (!reader.isSymbol("}")) {
    if (matchers.length > 0) {
      reader.expectSymbol(",");
      // A comma may follow the last one.
      if (reader.isSymbol("}")) break;
    }
    if (matchers.length >= LOGQL_LIMITS.items) throw new LogqlError("too many matchers", reader.token.start);
    matchers.push(parseMatcher(reader));
  }
  reader.next();
  return matchers;
}

function parseMatcher(reader: TokenReader): Matcher {
  const { text: name } = reader.expect("name");
  const operator = MATCH_OPERATORS.find((each) => reader.isSymbol(each));
  if (operator === undefined) throw reader.unexpected("=, !=, =~ or !~");
  reader.next();
  const { text: value } = reader.expect("string");
  return { name, operator, value };
}

/** Reads the test of a label, or several with `and`, `or` and commas. @throws LogqlError */
export function parseLabelTest(reader: TokenReader): LabelTest {
  return parseTests(reader, 0, { count: 0 });
}

const OR = 1;
const AND = 2;

/** @param least the least precedence of the operators that are read; a comma is always read, and binds the least to its right */
function parseTests(reader: TokenReader, least: number, seen: { count: number }): LabelTest {
  return reader.nested(() => {
    let left = parseTest(reader, seen);
    for (;;) {
      if (reader.is("name", "or") && least <= OR) {
        reader.next();
        left = { kind: "or", left, right: parseTests(reader, OR + 1, seen) };
      } else if (reader.is("name", "and") && least <= AND) {
        reader.next();
        left = { kind: "and", left, right: parseTests(reader, AND + 1, seen) };
      } else if (reader.isSymbol(",")) {
        reader.next();
        left = { kind: "and", left, right: parseTests(reader, 0, seen) };
      } else if (reader.isSymbol("(") || (reader.is("name") && !reader.is("name", "or") && !reader.is("name", "and"))) {
        // Tests may follow each other without a word between them.
        if (reader.is("name", "offset")) return left;
        left = { kind: "and", left, right: parseTests(reader, 0, seen) };
      } else return left;
    }
  });
}

function parseTest(reader: TokenReader, seen: { count: number }): LabelTest {
  if (++seen.count > LOGQL_LIMITS.items) throw new LogqlError("too many label filters", reader.token.start);
  if (reader.takesSymbol("(")) {
    const test = parseTests(reader, 0, seen);
    reader.expectSymbol(")");
    return test;
  }
  const { text: name } = reader.expect("name");
  const { token: operatorToken } = reader;
  const following = reader.peek(1);
  if (following.kind === "name" && following.text === "ip")
    throw unsupported("ip() in a label filter", following.start);
  const match = MATCH_OPERATORS.find((each) => reader.isSymbol(each));
  if (match !== undefined && following.kind === "string") {
    reader.next();
    return { kind: "match", matcher: { name, operator: match, value: reader.next().text } };
  }
  const compare = COMPARE_OPERATORS.find((each) => reader.isSymbol(each));
  if (compare === undefined) throw reader.unexpected("an operator such as = or >");
  reader.next();
  const operator: CompareOperator = compare === "==" ? "=" : compare;
  const sign = reader.isSymbol("-", "+") ? reader.next().text : "";
  const { token } = reader;
  if (token.kind !== "number" && token.kind !== "unit")
    throw reader.unexpected("a string, a number, a duration or a size");
  reader.next();
  const text = sign === "-" ? `-${token.text}` : token.text;
  if (token.kind === "number") return { kind: "compare", name, operator, unit: "number", number: Number(text), text };
  const duration = durationOf(text, true);
  if (duration !== null) return { kind: "compare", name, operator, unit: "duration", number: duration, text };
  const bytes = bytesOf(text);
  if (bytes === null) throw new LogqlError(`${text} is neither a duration nor a size`, operatorToken.start);
  return { kind: "compare", name, operator, unit: "bytes", number: bytes, text };
}
