import { useMemo } from "preact/hooks";
import { Chart } from "../../charts/chart.tsx";
import { useLoad } from "../../lib/load.ts";
import type { Deciding, ReplayedDecision } from "../../model/alerts.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { type SearchAnswer, tableOf } from "../explorer/search/answer-view.tsx";
import { Notes } from "../explorer/search/notes.tsx";
import { number } from "../explorer/view/format.ts";
import {
  asGroups,
  chartSpan,
  firesElsewhere,
  groupFields,
  isMeasure,
  MAX_SPANS,
  notesOfRule,
  thresholdOf,
  valuesQuery,
} from "./alert-query.ts";
import css from "./alerts.module.css";
import { durationText, lengthText } from "./words.ts";

interface ValueChartProps {
  workspaceId: string;
  projectId: string;
  rule: Pick<Deciding, "query" | "condition" | "window" | "delay">;
  /** Firings among them are marked. */
  decisions: readonly ReplayedDecision[];
  /** Notes on the rule that are shown elsewhere. */
  shownNotes?: readonly string[];
  /** Offered if the firings are elsewhere than the values: counts by the entries' own times. */
  onOwnTimes?: () => void;
}

/** The values of a rule's windows, with its threshold and its firings. */
export function ValueChart({ workspaceId, projectId, rule, decisions, shownNotes = [], onOwnTimes }: ValueChartProps) {
  const isGrouped = useMemo(() => groupFields(rule.query).length > 0, [rule.query]);
  const key = JSON.stringify([projectId, rule.query, rule.window]);
  const loaded = useLoad(key, async (signal) => {
    const span = chartSpan(rule.window, Date.now());
    const query = valuesQuery(rule.query, span.binMs, isGrouped) ?? "";
    const times = { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() };
    const body = { query, projectId, ...times };
    const { data } = await authorized<SearchAnswer>("/logger/search", { workspaceId, body, signal });
    return { query, span, answer: data };
  });
  const marks = decisions.flatMap(({ kind, at }) => (kind === "firing" ? [Date.parse(at)] : []));
  if (loaded.failure !== null) return <Failure failure={loaded.failure} onRetry={loaded.reload} />;
  if (loaded.data === null) {
    return (
      <figure class={css.figure}>
        <Caption {...chartSpan(rule.window, Date.now())} />
        <div class={css.chart}>
          <Loading />
        </div>
      </figure>
    );
  }
  const { query, span, answer } = loaded.data;
  if (answer.kind !== "table") return null;
  const { table, isExact } = asGroups(rule.query, tableOf(answer));
  const { condition } = rule;
  const isReached = condition.kind === "rate" || (condition.kind === "threshold" && condition.direction !== "below");
  const isElsewhere =
    isReached && rule.delay === null && answer.complete && firesElsewhere(table, marks, span, thresholdOf(rule));
  return (
    <figure class={css.figure}>
      <Caption {...span} />
      <div class={css.chart}>
        <Chart
          table={table}
          query={query}
          kind={isGrouped || isMeasure(rule.query) ? "line" : "bars"}
          range={span}
          title="Values"
          overlay={{ threshold: thresholdOf(rule), marks }}
        />
      </div>
      {isElsewhere && onOwnTimes !== undefined ? (
        <p class={css.hint} role="note">
          The entries were received later than their own times, as in an import. The alert counts them when they are
          received, so it fires there and not at the bars.{" "}
          <Button small onClick={onOwnTimes}>
            Count by the entries' times
          </Button>
        </p>
      ) : null}
      <p class={css.hint}>
        Each value covers {durationText(rule.window)}, by the times of the entries.
        {marks.some((at) => at >= span.from && at <= span.to) ? " A line with a triangle is a firing." : ""}
        {rule.delay === null ? " The alert counts an entry when the service receives it." : ""}
        {isExact ? "" : " Texts that share their first 200 characters are one group; its value is the largest of them."}
        {answer.complete ? "" : " Older entries are missing."}
      </p>
      <Notes notes={notesOfRule(answer.notes).filter((note) => !shownNotes.includes(note))} />
    </figure>
  );
}

/** What the chart shows, if it is shorter than the replay. */
function Caption({ from, to, isCut }: Pick<ReturnType<typeof chartSpan>, "from" | "to" | "isCut">) {
  const length = lengthText(to - from);
  return (
    <figcaption class={css.caption}>
      {`Values of the last ${length}${isCut ? `, as a chart has at most ${number(MAX_SPANS)} windows` : ""}`}
    </figcaption>
  );
}
