import { LogqlError } from "./error.ts";
import { EntryLabels, ERROR_LABEL, type LabelSet } from "./labels.ts";
import { extractJson, parseJsonLine, parseLogfmtLine } from "./parsers.ts";
import type {
  CompareOperator,
  Conversion,
  LabelTest,
  LineFilter,
  LogExpression,
  Matcher,
  Stage,
  Template,
} from "./syntax.ts";
import { MAX_RESULT, runTemplate } from "./template.ts";
import { bytesOf, durationOf, floatOf } from "./units.ts";

/** An entry as LogQL sees it. */
export interface LokiEntry {
  /** Epoch milliseconds. */
  timestamp: number;
  line: string;
  /** Labels of the stream. */
  stream: LabelSet;
  /** Structured metadata. */
  metadata: LabelSet;
}

/** An entry while stages run. */
export interface Processed {
  timestamp: number;
  line: string;
  labels: EntryLabels;
}

/** Compiles a regular expression. @param isWhole whether it must match the whole text @returns a test of a text */
export type CompileRegex = (source: string, isWhole: boolean) => (text: string) => boolean;

/** What stages need of the query that they belong to. */
export interface StageTools {
  compile: CompileRegex;
  /** Charges work units of 1.5 ns to the request. */
  charge(units: number): void;
}

/** Runs a stage. @returns whether the entry passes */
type Step = (entry: Processed) => boolean;

const NEGATED: ReadonlySet<string> = new Set(["!=", "!~"]);

/** Returns a test of a label's value; "" for a missing label. */
export function valueTest(
  { operator, value }: Pick<Matcher, "operator" | "value">,
  regex: CompileRegex,
): (text: string) => boolean {
  switch (operator) {
    case "=":
      return (text) => text === value;
    case "!=":
      return (text) => text !== value;
    case "=~":
      return regex(value, true);
    case "!~": {
      const test = regex(value, true);
      return (text) => !test(text);
    }
  }
}

/** Returns whether labels of a stream pass a selector. */
export function selectorTest(matchers: readonly Matcher[], regex: CompileRegex): (labels: LabelSet) => boolean {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: valueTest(matcher, regex) }));
  return (labels) => tests.every(({ name, test }) => test(labels.get(name) ?? ""));
}

function lineTest({ operator, texts }: LineFilter, regex: CompileRegex): (line: string) => boolean {
  const tests = texts.map((text) =>
    operator === "|=" || operator === "!=" ? (line: string) => line.includes(text) : regex(text, false),
  );
  const isAny = (line: string) => tests.some((test) => test(line));
  return NEGATED.has(operator) ? (line) => !isAny(line) : isAny;
}

/** Work units of parsing a character of a line. */
const PARSER_WORK = 8;
/** Work units that parsers and templates may take for one entry, 50 ms: stages run without a pause. */
const MAX_ENTRY_WORK = 33_000_000;

const LABEL_FILTER_ERROR = "LabelFilterErr";
const TEMPLATE_ERROR = "TemplateFormatErr";
const EXTRACTION_ERROR = "SampleExtractionErr";

/** Prepares the stages of a pipeline. */
export class Pipeline {
  readonly #steps: readonly Step[];
  /** Work units that are left for the entry. */
  #left = 0;

  /** @param parses whether parsers run. Where no label is read, their errors do not matter either */
  constructor({ stages }: Pick<LogExpression, "stages">, { compile, charge }: StageTools, parses = true) {
    const spend = (units: number): void => {
      charge(units);
      this.#left -= units;
      if (this.#left < 0) throw new LogqlError("the parsers and templates of the query take too long for a line", null);
    };
    this.#steps = stages
      .filter(({ kind }) => parses || (kind !== "json" && kind !== "logfmt"))
      .map((stage) => stepOf(stage, compile, spend));
  }

  /**
   * @returns `null` if a stage leaves the entry out
   * @throws LogqlError if the stages take too long
   */
  run({ timestamp, line, stream, metadata }: LokiEntry): Processed | null {
    this.#left = MAX_ENTRY_WORK;
    const entry = { timestamp, line, labels: new EntryLabels(stream, metadata) };
    for (const step of this.#steps) if (!step(entry)) return null;
    return entry;
  }
}

function stepOf(stage: Stage, regex: CompileRegex, spend: (units: number) => void): Step {
  switch (stage.kind) {
    case "line": {
      const test = lineTest(stage, regex);
      return ({ line }) => test(line);
    }
    case "json": {
      const { extractions } = stage;
      return passing(({ line, labels }) => {
        spend(line.length * PARSER_WORK);
        if (extractions.length === 0) parseJsonLine(line, labels);
        else extractJson(line, extractions, labels);
      });
    }
    case "logfmt":
      return passing(({ line, labels }) => {
        spend(line.length * PARSER_WORK);
        parseLogfmtLine(line, stage, labels);
      });
    case "label":
      return labelStep(stage.test, regex);
    case "line_format":
      return passing((entry) => {
        entry.line = formatted(stage.template, entry, spend) ?? entry.line;
      });
    case "label_format":
      return passing((entry) => {
        const { labels } = entry;
        for (const format of stage.formats) {
          if ("template" in format) {
            const text = formatted(format.template, entry, spend);
            if (text !== null) labels.set(format.label, text);
            continue;
          }
          const value = labels.get(format.from);
          if (value === undefined) continue;
          labels.set(format.label, value);
          labels.delete(format.from);
        }
      });
    case "drop": {
      const drops = stage.labels.map(({ name, matcher }) => ({ name, test: matcher && valueTest(matcher, regex) }));
      return passing(({ labels }) => {
        for (const { name, test } of drops) {
          const value = labels.get(name);
          if (value === undefined || (test !== null && !test(value))) continue;
          if (name === ERROR_LABEL) labels.error = null;
          else if (name === "__error_details__") labels.errorDetails = null;
          else labels.delete(name);
        }
      });
    }
    case "keep": {
      const keeps = stage.labels.map(({ name, matcher }) => ({ name, test: matcher && valueTest(matcher, regex) }));
      return passing(({ labels }) => {
        const { stream, metadata, parsed } = labels.categorized();
        for (const [name, value] of new Map([...stream, ...metadata, ...parsed])) {
          if (name.startsWith("__error")) continue;
          const isKept = keeps.some((each) => each.name === name && (each.test === null || each.test(value)));
          if (!isKept) labels.delete(name);
        }
      });
    }
  }
}

function passing(step: (entry: Processed) => void): Step {
  return (entry) => {
    step(entry);
    return true;
  };
}

/** Returns the text of a template. One that is too long is `null` and, as in Loki, an error of the entry. */
function formatted(
  template: Template,
  { labels, line, timestamp }: Processed,
  spend: (units: number) => void,
): string | null {
  const text = runTemplate(template, { labelOf: (name) => labels.get(name) ?? "", line, timestamp }, spend);
  if (text === null) labels.fail(TEMPLATE_ERROR, `the text of a template is longer than ${MAX_RESULT} characters`);
  return text;
}

/** Prepares the test of a label. A value that cannot be compared passes, with an error. */
export function labelStep(test: LabelTest, regex: CompileRegex): Step {
  switch (test.kind) {
    case "match": {
      const { name } = test.matcher;
      const passes = valueTest(test.matcher, regex);
      return ({ labels }) => passes(labels.get(name) ?? "");
    }
    case "compare": {
      const { name, operator, unit, number } = test;
      return ({ labels }) => {
        const text = labels.get(name);
        if (text === undefined) return false;
        const value = unit === "number" ? floatOf(text) : unit === "duration" ? durationOf(text, false) : bytesOf(text);
        if (value !== null) return compares(value, operator, number);
        labels.fail(LABEL_FILTER_ERROR, `${JSON.stringify(text)} is not a ${unit}`);
        return true;
      };
    }
    case "and":
    case "or": {
      const [left, right] = [labelStep(test.left, regex), labelStep(test.right, regex)];
      if (test.kind === "or") return (entry) => left(entry) || right(entry);
      // Both run, because each may note an error.
      return (entry) => {
        const passes = left(entry);
        return right(entry) && passes;
      };
    }
  }
}

function compares(value: number, operator: CompareOperator, bound: number): boolean {
  switch (operator) {
    case "=":
      return value === bound;
    case "!=":
      return value !== bound;
    case ">":
      return value > bound;
    case ">=":
      return value >= bound;
    case "<":
      return value < bound;
    case "<=":
      return value <= bound;
  }
}

/**
 * Returns the number of a label's value: seconds of a duration, bytes of a size. Any other text is 0, with an error.
 * @returns `null` without the label
 */
export function unwrapped({ labels }: Processed, label: string, conversion: Conversion): number | null {
  const text = labels.get(label) ?? "";
  if (text === "") return null;
  const value =
    conversion === "number" ? floatOf(text) : conversion === "bytes" ? bytesOf(text) : durationOf(text, false);
  if (value === null) {
    labels.error = EXTRACTION_ERROR;
    labels.errorDetails = `${JSON.stringify(text)} is not a ${conversion}`;
    return 0;
  }
  return conversion === "duration" ? value / 1e9 : value;
}
