import type { LineFilter, Stage } from "../../logql/syntax.ts";
import { eitherTest, runTests, type TokenTest } from "../cold/filter/token-tests.ts";
import { foldCase } from "../query/fold-case.ts";
import { literalOf } from "../search/literals.ts";

/**
 * Tests that segments must pass to have an entry that passes the line filters of a pipeline. A line is a message, or JSON of
 * a message and of `data`, so a text in it may begin or end anywhere in the JSON. Each of its runs of letters is in one string, one
 * name of a member, or in a word that stands in no filter.
 */

/** Words that lines have and filters do not: names that `lokiEntryOf` writes, and literals of JSON. */
const OTHER_WORDS = ["message", "data", "true", "false", "null"];
/** The end of an escape of JSON, `\n` or `\u001f`, with which a text in a line may begin. */
const ESCAPE_END = /^(?:u?[0-9a-f]{4}|[0-9a-f]{1,3}|[nrt])/;

/** Returns the tests that must all hold; see `TokenTest`. Filters behind a stage that writes another line have none. */
export function lineTokenTests(stages: readonly Stage[]): TokenTest[] {
  const tests: TokenTest[] = [];
  for (const stage of stages) {
    if (stage.kind === "line_format") break;
    if (stage.kind === "line") tests.push(...testsOf(stage));
  }
  return tests;
}

function testsOf({ operator, texts }: LineFilter): TokenTest[] {
  if (operator !== "|=" && operator !== "|~") return [];
  const needles = operator === "|=" ? texts : texts.flatMap(alternatives);
  const parts = needles.map((needle) => runTests(runsOf(needle)));
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const first = parts.map(([test]) => test);
  const either = first.includes(undefined) ? null : eitherTest(first.filter((test) => test !== undefined));
  return either === null ? [] : [either];
}

/** A source without any but plain characters and alternatives. */
const PLAIN_SOURCE = /^[^\\^$.*+?()[\]{}]*$/u;
const ANY_CASE = "(?i)";

/** Returns texts of which one is in each match of a regular expression; "" tells nothing. */
function alternatives(regex: string): string[] {
  const ignoreCase = regex.startsWith(ANY_CASE);
  const source = ignoreCase ? regex.slice(ANY_CASE.length) : regex;
  const sources = PLAIN_SOURCE.test(source) ? source.split("|") : [source];
  return sources.map((each) => literalOf({ kind: "regex", source: each, ignoreCase }));
}

/** Returns the runs of letters of a text, folded, that filters of segments with a line with this text hold. */
function runsOf(needle: string): string[] {
  return needle
    .split("\\")
    .map((part) => foldCase(part.replace(ESCAPE_END, "")))
    .flatMap((part) => part.split(/[\0-`{-\x7f]+/))
    .filter((run) => !OTHER_WORDS.some((word) => word.includes(run)));
}
