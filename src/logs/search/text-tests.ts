import { RE2JS, RE2JSException } from "re2js";
import type { Regex, ValueTest } from "../../query-language/syntax.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import { foldCase } from "../query/fold-case.ts";
import { literalOf } from "./literals.ts";
import { Machine, type Program } from "./regex-machine.ts";

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
const MAX_PROGRAM = 1000;
/** Instructions of all regular expressions of a query, of which the hardest 1,000 take 10 ms to compile. */
const MAX_PROGRAMS = 4000;
/** Bytes of the states that one regular expression keeps. A query has up to 200 of them. */
const STATE_BYTES = 64 * 1024;
/** Characters of a text that is tested at once: at most 30 us each, for programs and texts that have a new state at each. */
const SHORT_TEXT = 1024;
/** Work units of a test of a text for each byte: without a regular expression, and with an ordinary one. */
export const TEXT_BYTE_WORK = 4;
export const REGEX_BYTE_WORK = 40;
/** Work units of a test of a value, beside those for each byte. */
export const TEST_WORK = 60;
/** Work units of a character of a short text in an ordinary program. */
const CHARACTER_WORK = 12;
/** Work units of making a state, and those of the first text for which states were discarded: 30 ms. */
const STATE_WORK = 7000;
const DISCARD_WORK = 20_000_000;

/** Returns the tests of which one must hold. */
export function leavesOf(test: ValueTest): ValueTest[] {
  return test.kind === "anyOf" ? test.tests.flatMap(leavesOf) : [test];
}

/** Returns the work units of testing a value: an entry may have thousands. */
export function valueWorkOf(test: ValueTest): (value: unknown) => number {
  const leaves = leavesOf(test);
  const words = leaves.filter(({ kind }) => kind === "is" || kind === "exact");
  // Folding makes no text shorter, so longer ones are not folded.
  const longest = Math.max(0, ...words.map((leaf) => (leaf.kind === "is" ? leaf.text.length : 0)));
  // A wildcard is compared with numbers as texts, too.
  const inTexts = leaves.filter(({ kind }) => kind === "wildcard" || kind === "regex").length;
  const others = leaves.length - words.length - inTexts + Math.min(words.length, 1);
  const each = others * WORK.condition + inTexts * TEST_WORK;
  return (value) => {
    if (typeof value !== "string") return each;
    return each + value.length * TEXT_BYTE_WORK * (inTexts + (value.length <= longest ? 1 : 0));
  };
}

/** A compiled regular expression. */
export class RegexTest {
  readonly #compiled: RE2JS;
  readonly #literal: string;
  readonly #states: { stateCount: number };
  /** Whether states were discarded, because texts have a new one at nearly every character. */
  #isHard = false;

  /** @throws InvalidRegex */
  constructor(regex: Regex) {
    const { source, ignoreCase } = regex;
    if (source.length > MAX_SOURCE) throw new InvalidRegex(source, `It has more than ${MAX_SOURCE} characters`);
    this.#compiled = compile(source, ignoreCase);
    if (this.#compiled.programSize() > MAX_PROGRAM) throw new InvalidRegex(source, "Its repetitions make it too large");
    this.#literal = literalOf(regex);
    const { dfa } = this.#compiled.re2Input;
    dfa.maxMem = STATE_BYTES;
    dfa.stateBudget = STATE_BYTES;
    dfa.memBudget = STATE_BYTES;
    const clearCache = dfa.clearCache.bind(dfa);
    dfa.clearCache = () => {
      this.#isHard = true;
      clearCache();
    };
    this.#states = dfa;
  }

  /** Instructions of the program. */
  get size(): number {
    return this.#compiled.programSize();
  }

  /** Whether a text has a match. Takes time linear in the text, because RE2 never goes back. */
  readonly passes = (text: string): boolean => this.#compiled.test(text);

  /** Like `passes`, in steps that the meter ends: some programs take many microseconds for a character. */
  *steps(text: string, meter: WorkMeter): Generator<void, boolean> {
    meter.add(text.length * CHARACTER_WORK);
    if (text.length <= SHORT_TEXT && !this.#isHard) {
      const { stateCount } = this.#states;
      const passes = this.#compiled.test(text);
      // Set if the test has discarded states.
      const isHard: boolean = this.#isHard;
      meter.add(isHard ? DISCARD_WORK : (this.#states.stateCount - stateCount) * STATE_WORK);
      return passes;
    }
    if (this.#literal !== "" && !foldCase(text).includes(this.#literal)) return false;
    // SAFETY: re2js publishes its compiled program without a type.
    return yield* new Machine(this.#compiled.re2Input.prog as Program).steps(text, meter);
  }
}

const TESTS = new WeakMap<Regex, RegexTest>();

/** Compiles a regular expression of a query once: some take many milliseconds. @throws InvalidRegex */
export function regexTestOf(regex: Regex): RegexTest {
  const known = TESTS.get(regex);
  if (known !== undefined) return known;
  const test = new RegexTest(regex);
  TESTS.set(regex, test);
  return test;
}

/** Returns whether a text has a match. @throws InvalidRegex */
export function regexTest(regex: Regex): (text: string) => boolean {
  return regexTestOf(regex).passes;
}

/** Compiles the regular expressions of one query. @throws InvalidRegex also if they are too large together */
export function compileAll(regexes: readonly Regex[]): void {
  let size = 0;
  for (const regex of regexes) {
    size += regexTestOf(regex).size;
    if (size > MAX_PROGRAMS) throw new InvalidRegex(regex.source, "It is too large with those before it");
  }
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
