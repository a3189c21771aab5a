import { RE2JS, RE2JSException } from "re2js";
import type { Regex } from "../../query-language/syntax.ts";
import { foldCase } from "../query/filter.ts";

/** A regular expression that RE2 does not accept. */
export class InvalidRegex extends Error {
  readonly source: string;

  constructor(source: string, reason: string) {
    super(reason);
    this.name = "InvalidRegex";
    this.source = source;
  }
}

/** Limits of a regular expression: characters, and instructions after repetitions such as `{100}` are written out. */
const MAX_SOURCE = 1000;
const MAX_PROGRAM = 5000;

/** Returns whether a text has a match. Takes time linear in the text, because RE2 never goes back. @throws InvalidRegex */
export function regexTest({ source, ignoreCase }: Regex): (text: string) => boolean {
  if (source.length > MAX_SOURCE) throw new InvalidRegex(source, `It has more than ${MAX_SOURCE} characters`);
  const compiled = compile(source, ignoreCase);
  if (compiled.programSize() > MAX_PROGRAM) throw new InvalidRegex(source, "Its repetitions make it too large");
  return (text) => compiled.test(text);
}

function compile(source: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new InvalidRegex(source, error.message.replace(/^error parsing regexp: /, ""));
  }
}

/**
 * Returns whether a text has the parts of a pattern between its `*` in order, whatever the case. Takes time linear in the
 * text: the first place of each part is the best one.
 * @param isWhole whether the pattern stands for the whole text, not for a part of it
 */
export function wildcardTest(pattern: string, isWhole: boolean): (text: string) => boolean {
  const parts = foldCase(pattern).split("*");
  const first = isWhole ? (parts.shift() ?? "") : "";
  const last = isWhole ? (parts.pop() ?? "") : "";
  return (text) => {
    const folded = foldCase(text);
    if (folded.length < first.length + last.length || !folded.startsWith(first) || !folded.endsWith(last)) return false;
    const end = folded.length - last.length;
    let at = first.length;
    for (const part of parts) {
      const found = folded.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
