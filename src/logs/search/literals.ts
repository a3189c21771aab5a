import type { Regex, TextTest, ValueTest } from "../../query-language/syntax.ts";
import { foldCase } from "../query/fold-case.ts";

/**
 * Literals: a text, folded, that every text contains that passes a test. It is found in bytes many times faster than the
 * test takes, so the test is made only where the literal is. "" if there is none.
 */

/** Returns the literal of a test of texts. */
export function literalOf(test: TextTest): string {
  return longest(literalsOf(test));
}

/** Returns several literals of a test of texts. */
export function literalsOf(test: TextTest): string[] {
  switch (test.kind) {
    case "contains":
      return [foldCase(test.text)];
    case "wildcard":
      return foldCase(test.pattern).split("*");
    case "regex":
      return [foldCase(literalOfRegex(test))];
  }
}

/** Returns the literal of the spelling of each value that passes. */
export function literalOfValue(test: ValueTest): string {
  switch (test.kind) {
    case "is":
    case "exact":
      return foldCase(test.text);
    case "wildcard":
    case "regex":
      return literalOf(test);
    case "anyOf": {
      const [only] = test.tests;
      return only !== undefined && test.tests.length === 1 ? literalOfValue(only) : "";
    }
    default:
      return "";
  }
}

/** Returns the literal of a test in its own case, if each text that passes has it so; "" otherwise. */
export function casedLiteralOf(test: TextTest | ValueTest): string {
  if (test.kind === "anyOf") {
    const [only] = test.tests;
    return only !== undefined && test.tests.length === 1 ? casedLiteralOf(only) : "";
  }
  return test.kind === "regex" && !test.ignoreCase ? literalOfRegex(test) : "";
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), "");
}

/** Characters of a source that stand for themselves. Others are escaped, repeat, or begin a group or a class. */
const PLAIN = /[^\\^$.*+?()[\]{}|]/u;
/** Letters for which a regular expression without case takes characters that `foldCase` maps to something else. */
const ODD_CASE = /[^\0-\x7f]|s/iu;
const ESCAPED_PUNCTUATION = /^\\[!-/:-@[-`{-~]/;
/** An escape that stands for a class or a place: `\d`, `\pL`, `\p{Greek}`, `\x{10FFFF}`, `\b`. */
const ESCAPE = /^\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|[0-9a-fA-F]{2})|[0-7]{1,3}|[^Q])/u;
const CLASS = /^\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]/u;
const REPETITION = /^(?:[*?+]|\{\d+(?:,\d*)?\})\??/;

/**
 * Returns the longest run of characters that a match certainly has: those outside groups and alternatives that are not
 * optional. A source that may be read in another way has none. It is not folded.
 */
function literalOfRegex({ source, ignoreCase }: Regex): string {
  const runs = [""];
  const end = () => runs.push("");
  const append = (character: string) => {
    if (ignoreCase && ODD_CASE.test(character)) end();
    else runs[runs.length - 1] += character;
  };
  let depth = 0;
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at);
    const [character = ""] = rest;
    const found =
      ESCAPED_PUNCTUATION.exec(rest)?.[0] ?? ESCAPE.exec(rest)?.[0] ?? CLASS.exec(rest)?.[0] ?? `${character}`;
    const repetition = REPETITION.exec(rest.slice(found.length))?.[0] ?? "";
    at += found.length + repetition.length;
    if (character === "\\" && found === character) return "";
    if (character === "(") {
      // Flags change what follows; a name does not.
      if (rest.startsWith("(?") && !/^\(\?(?::|P?<\w)/.test(rest)) return "";
      depth++;
      end();
    } else if (character === ")") {
      depth--;
      end();
    } else if (character === "|" && depth === 0) return "";
    else if (depth === 0) {
      const isEscaped = ESCAPED_PUNCTUATION.test(found);
      const isPlain = isEscaped || (found.length === character.length && PLAIN.test(character));
      if (!isPlain || (repetition !== "" && !repetition.startsWith("+"))) end();
      else append(isEscaped ? found.slice(1) : character);
      if (repetition !== "") end();
    }
  }
  return depth === 0 ? longest(runs) : "";
}
