import { isArrayIndex } from "../../query/data-path.ts";
import type { DataCondition, LogFilter, Scalar } from "../../query/filter.ts";
import { foldCase } from "../../query/fold-case.ts";
import { TokenHasher } from "./bloom.ts";
import { gramsOfNeedle, hashGram } from "./grams.ts";
import { atPath, EXACT_KIND, hashExactValue, hashId, hashValue, TOKEN_KIND, type TokenHash } from "./tokens.ts";

/** For filters that hold all of `kinds`: an entry passes only if it has one of these tokens. */
export interface TokenForm {
  /** Sum of `TOKEN_KIND` or of `EXACT_KIND`. */
  kinds: number;
  anyOf: readonly TokenHash[];
}

/**
 * A condition: an entry passes only if it has certain tokens. `folded` is for filters of this version, `exact` for those of
 * earlier versions; `null` if such filters cannot decide. Grams are the same in both.
 */
export interface TokenTest {
  folded: TokenForm | null;
  exact: TokenForm | null;
}

/** Returns the tokens of which a filter with these kinds must have one; `null` if the filter cannot decide. */
export function tokensFor({ folded, exact }: TokenTest, kinds: number): readonly TokenHash[] | null {
  if (folded !== null && (kinds & folded.kinds) === folded.kinds) return folded.anyOf;
  if (exact !== null && (kinds & exact.kinds) === exact.kinds) return exact.anyOf;
  return null;
}

/** Maximum number of alternatives of one test. */
const MAX_ALTERNATIVES = 16;
/** Maximum number of tests of one query. Each further test makes the statement longer and excludes less. */
export const MAX_TESTS = 24;
/** Number of grams of a value of `data`. They exclude segments that the value's own token lets pass by chance. */
const VALUE_GRAMS = { threes: 2, fours: 2 };
/** Number of characters of a value whose grams are taken. A value may have 250,000 characters. */
const VALUE_CHARACTERS = 256;
/** Names of a path that may be indices of arrays. Each doubles the paths. */
const MAX_INDICES = 2;

/** How a value is compared with a wanted text. */
export type TextMatch =
  /** Exactly this string. */
  | "exact"
  /** This text, whatever the case. */
  | "folded";

/**
 * Returns the test for entries whose session (0), trace id (1) or span id (2) is a text. Filters of earlier versions decide a
 * comparison without case only if the text has no letters.
 */
export function idTest(member: 0 | 1 | 2, text: string, match: TextMatch): TokenTest {
  const hasher = new TokenHasher();
  const folded = { kinds: TOKEN_KIND.foldedId, anyOf: [taken(hashId(hasher, member, foldCase(text)))] };
  const hasExact = match === "exact" || isCaseless(text);
  const exact = hasExact ? { kinds: EXACT_KIND.id, anyOf: [taken(hashId(hasher, member, text))] } : null;
  return { folded, exact };
}

/**
 * Returns the test for entries with a value at a path of the query language.
 * @param names of the path, without indices of arrays
 * @param text of a string, or as a number or boolean is spelled; `null`: any value
 */
export function memberTest(names: readonly string[], text: string | null, match: TextMatch): TokenTest {
  const hasher = new TokenHasher();
  const anyOf = [taken(hashValue(atPath(hasher, names), text === null ? undefined : foldCase(text)))];
  const isOfScalar = text !== null && match === "folded" && isSpelled(text);
  const kinds = isOfScalar ? TOKEN_KIND.foldedText | TOKEN_KIND.foldedScalar : TOKEN_KIND.foldedText;
  return { folded: { kinds, anyOf }, exact: null };
}

/** Returns the tests for entries with a text somewhere in the message or in `data`, whatever the case. */
export function containsTests(text: string): TokenTest[] {
  const needle = foldCase(text);
  return needle === "" || isInBoolean(needle) ? [] : gramTests(needle);
}

/**
 * Returns the tests for entries that have each of some runs of letters, folded, in the message, in a string of `data`, or in the
 * name of a member. Filters of earlier versions cannot decide.
 */
export function runTests(runs: readonly string[]): TokenTest[] {
  return gramTests(runs.join(" ")).flatMap(({ folded }) =>
    folded === null ? [] : [{ folded: { ...folded, kinds: folded.kinds | TOKEN_KIND.names }, exact: null }],
  );
}

/** Returns the test for entries that pass at least one of the given tests; `null` if it could exclude nothing. */
export function eitherTest(tests: readonly TokenTest[]): TokenTest | null {
  const [folded, exact] = [either(tests.map((test) => test.folded)), either(tests.map((test) => test.exact))];
  return folded === null && exact === null ? null : { folded, exact };
}

function either(forms: readonly (TokenForm | null)[]): TokenForm | null {
  const all = forms.filter((form) => form !== null);
  const anyOf = all.flatMap((form) => form.anyOf);
  if (all.length < forms.length || anyOf.length === 0 || anyOf.length > MAX_ALTERNATIVES) return null;
  return { kinds: all.reduce((kinds, form) => kinds | form.kinds, 0), anyOf };
}

/** Returns the conditions on tokens that an entry must meet to pass a filter. All tests must hold. */
export function tokenTestsOf(filter: LogFilter): TokenTest[] {
  const tests: TokenTest[] = [];
  /** Weaker conditions, added last. */
  const further: TokenTest[] = [];
  if (filter.session !== null) tests.push(idTest(0, filter.session, "exact"));
  if (filter.traceId !== null) tests.push(idTest(1, filter.traceId, "exact"));
  for (const condition of filter.data) {
    tests.push(...dataTests(condition));
    if (condition.op === "eq") further.push(...equalityTests(condition.path, condition.value));
  }
  if (filter.search !== null && !isInBoolean(filter.search)) tests.push(...gramTests(filter.search));
  return [...tests, ...further].slice(0, MAX_TESTS);
}

/**
 * Whether `search` may find a boolean by this text. Filters hold only the grams of strings, so those grams decide
 * nothing then. No number has two consecutive letters, so a text with a gram occurs in no number.
 */
function isInBoolean(needle: string): boolean {
  return "true".includes(needle) || "false".includes(needle);
}

/** @param needle folded */
function gramTests(needle: string, max?: typeof VALUE_GRAMS): TokenTest[] {
  const hasher = new TokenHasher();
  const { threes, fours } = gramsOfNeedle(needle, max);
  const test = (kinds: number, gram: string): TokenTest => {
    const form = { kinds, anyOf: [taken(hashGram(hasher, gram, 0, gram.length))] };
    return { folded: form, exact: form };
  };
  return [...fours.map((gram) => test(TOKEN_KIND.four, gram)), ...threes.map((gram) => test(TOKEN_KIND.three, gram))];
}

/** Tests the path with its value, and the grams of the value: two rare coincidences seldom occur together. */
function equalityTests(path: readonly string[], value: Scalar): TokenTest[] {
  const grams = typeof value === "string" ? gramTests(foldCase(beginningOf(value)), VALUE_GRAMS) : [];
  return [anyTest(path), ...grams];
}

/** Ends between two characters, because half of a character may be lowered in another way than the whole. */
function beginningOf(value: string): string {
  const cut = value.slice(0, VALUE_CHARACTERS);
  return cut.length < value.length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function dataTests(condition: DataCondition): TokenTest[] {
  switch (condition.op) {
    case "eq":
      return [valueTest(condition.path, [condition.value]) ?? anyTest(condition.path)];
    case "in":
      return [valueTest(condition.path, condition.value) ?? anyTest(condition.path)];
    case "ne":
      return [];
    case "exists":
      return condition.value ? [anyTest(condition.path)] : [];
    default:
      return [anyTest(condition.path)];
  }
}

function anyTest(path: readonly string[]): TokenTest {
  const hasher = new TokenHasher();
  const folded = pathsOf(path).map((names) => taken(hashValue(atPath(hasher, names), undefined)));
  return {
    folded: folded.length === 0 ? null : { kinds: TOKEN_KIND.foldedText, anyOf: folded },
    exact: { kinds: EXACT_KIND.text, anyOf: [taken(hashExactValue(hasher, path, undefined))] },
  };
}

/** Returns `null` if there are too many values. */
function valueTest(path: readonly string[], values: readonly Scalar[]): TokenTest | null {
  if (values.length > MAX_ALTERNATIVES) return null;
  const hasher = new TokenHasher();
  const folded = pathsOf(path).flatMap((names) =>
    values.map((value) => {
      const text = typeof value === "string" ? foldCase(value) : value === null ? null : String(value);
      return taken(hashValue(atPath(hasher, names), text));
    }),
  );
  const [texts, scalars] = [values.some(isText), values.some((value) => !isText(value))];
  const kinds = (texts ? TOKEN_KIND.foldedText : 0) | (scalars ? TOKEN_KIND.foldedScalar : 0);
  const exactKinds = (texts ? EXACT_KIND.text : 0) | (scalars ? EXACT_KIND.scalar : 0);
  const exact = values.map((value) => taken(hashExactValue(hasher, path, value)));
  const isFolded = folded.length > 0 && folded.length <= MAX_ALTERNATIVES;
  return { folded: isFolded ? { kinds, anyOf: folded } : null, exact: { kinds: exactKinds, anyOf: exact } };
}

function isText(value: Scalar): boolean {
  return typeof value === "string";
}

/**
 * Returns the names of each path that tokens may have for a path of a filter, in which the index of an item is a name. Empty
 * if there are too many.
 */
function pathsOf(path: readonly string[]): string[][] {
  if (path.filter(isArrayIndex).length > MAX_INDICES) return [];
  let paths: string[][] = [[]];
  for (const name of path) {
    const withName = paths.map((names) => [...names, name]);
    paths = isArrayIndex(name) ? [...paths, ...withName] : withName;
  }
  return paths.filter(({ length }) => length > 0);
}

function taken({ a, b }: TokenHash): TokenHash {
  return { a, b };
}

/** Whether no other text differs from this one in case only: all characters are ASCII, and none is a letter. */
function isCaseless(text: string): boolean {
  return /^[\0-@[-`{-\x7f]*$/.test(text);
}

/** Whether a number or boolean may be spelled so. */
function isSpelled(text: string): boolean {
  return text === "true" || text === "false" || String(Number(text)) === text;
}
