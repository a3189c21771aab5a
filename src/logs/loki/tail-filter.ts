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

/** Returns a function that runs the stages of a query for an entry of a tail; `null` if it does not pass. @throws LogqlError */
export function tailResults(expression: LogExpression): (entry: StoredEntry) => LogResult | null {
  const { compile } = new QueryRegexes(new WorkMeter());
  const passes = selectorTest(expression.matchers, compile);
  const pipeline = new Pipeline(expression, compile);
  return (entry) => {
    const { id, seq, projectId } = entry;
    const timestamp = Date.parse(entry.timestamp);
    const read = lokiEntryOf(entry, { timestamp, receivedAt: Date.parse(entry.receivedAt), seq, projectId, id });
    const processed = passes(read.stream) ? pipeline.run(read) : null;
    if (processed === null) return null;
    const labels: CategorizedLabels = processed.labels.categorized();
    return { timestamp, seq, projectId, line: processed.line, labels };
  };
}
