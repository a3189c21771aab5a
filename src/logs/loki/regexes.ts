import { LogqlError } from "../../logql/error.ts";
import type { CompileRegex, StageTools } from "../../logql/pipeline.ts";
import { WorkMeter } from "../query/budget.ts";
import { InvalidRegex, RegexTest } from "../search/text-tests.ts";
import { wholeRegex } from "./selector-filter.ts";

/** Instructions of all regular expressions of a query; see `compileAll`. */
const MAX_PROGRAMS = 4000;
/** Work units that one regular expression may take for one text, 50 ms: stages run without a pause. */
const MAX_TEXT_WORK = 33_000_000;

/** Compiles the regular expressions of one query, and charges their work and that of its stages. */
export class QueryRegexes implements StageTools {
  readonly #meter: WorkMeter;
  #size = 0;

  constructor(meter: WorkMeter) {
    this.#meter = meter;
  }

  readonly charge = (units: number): void => this.#meter.add(units);

  /** @throws LogqlError for an expression that RE2 does not accept, or one that takes too long for a text */
  readonly compile: CompileRegex = (source, isWhole) => {
    const test = compiled(source, isWhole);
    this.#size += test.size;
    if (this.#size > MAX_PROGRAMS)
      throw new LogqlError("the regular expressions of the query are too large together", null);
    return (text) => {
      const meter = new WorkMeter(MAX_TEXT_WORK);
      const { done, value } = test.steps(text, meter).next();
      this.#meter.add(meter.done);
      if (done !== true)
        throw new LogqlError(`the regular expression ${short(source)} takes too long for a line`, null);
      return value;
    };
  };
}

function compiled(source: string, isWhole: boolean): RegexTest {
  try {
    // Fails for an expression that only parentheses around it would complete.
    if (isWhole) new RegexTest({ kind: "regex", source, ignoreCase: false });
    return new RegexTest({ kind: "regex", source: isWhole ? wholeRegex(source) : source, ignoreCase: false });
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw new LogqlError(`error parsing regexp ${short(source)}: ${error.message}`, null);
  }
}

function short(source: string): string {
  return JSON.stringify(source.length > 100 ? `${source.slice(0, 100)}...` : source);
}
