import { LogqlError } from "../../logql/error.ts";
import type { CategorizedLabels } from "../../logql/labels.ts";
import { Pipeline, selectorTest } from "../../logql/pipeline.ts";
import type { LogExpression } from "../../logql/syntax.ts";
import { printFilter } from "../../query-language/print.ts";
import { tailFilterText } from "../../tail/filter.ts";
import type { StoredEntry } from "../entry.ts";
import { WorkMeter } from "../query/budget.ts";
import { compileFilter } from "../search/compile-filter.ts";
import { lokiEntryOf } from "./loki-entry.ts";
import { QueryRegexes } from "./regexes.ts";
import type { LogResult } from "./run-logs.ts";
import { selectorFilter } from "./selector-filter.ts";

/** Returns the text of a tail's filter that every entry of a query passes. The stages decide on the others. */
export function lokiTailFilter({ matchers }: LogExpression): string {
  const { from: _from, to: _to, data: _data, rest, ...wanted } = compileFilter(selectorFilter(matchers), 0);
  return tailFilterText({ ...wanted, rest: rest === null ? null : printFilter(rest.filter) });
}

/**
 * Work units that an entry of a tail may take on average, 0.1 ms and 60 ns for each character of its line: the entries of a
 * frame, 500 or 128 Ki characters, are tested without a pause.
 */
const ENTRY_WORK = 66_000;
const CHARACTER_WORK = 40;
/** Work units that a tail may be ahead of that, 50 ms. */
const CREDIT = 33_000_000;

/**
 * Returns a function that runs the stages of a query for an entry of a tail; `null` if it does not pass. The function throws
 * LogqlError if the stages take too long.
 */
export function tailResults(expression: LogExpression): (entry: StoredEntry) => LogResult | null {
  const meter = new WorkMeter();
  const regexes = new QueryRegexes(meter);
  const passes = selectorTest(expression.matchers, regexes.compile);
  const pipeline = new Pipeline(expression, regexes);
  let credit = CREDIT;
  return (entry) => {
    const { id, seq, projectId } = entry;
    const timestamp = Date.parse(entry.timestamp);
    const read = lokiEntryOf(entry, { timestamp, receivedAt: Date.parse(entry.receivedAt), seq, projectId, id });
    const before = meter.done;
    const isSelected = passes(read.stream);
    const processed = isSelected ? pipeline.run(read) : null;
    const allowed = ENTRY_WORK + (isSelected ? read.line.length * CHARACTER_WORK : 0);
    credit = Math.min(CREDIT, credit + allowed - (meter.done - before));
    if (credit < 0) throw new LogqlError("the query takes too long for a tail", null);
    if (processed === null) return null;
    const labels: CategorizedLabels = processed.labels.categorized();
    return { timestamp, seq, projectId, line: processed.line, labels };
  };
}
