import { useEffect, useState } from "preact/hooks";
import { groupText } from "../../../../src/alerts/template.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { useLoad } from "../../lib/load.ts";
import { visible } from "../../lib/visible.ts";
import { type Condition, type Deciding, type Preview, previewAlert } from "../../model/alerts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { Notes } from "../explorer/search/notes.tsx";
import { entries, number } from "../explorer/view/format.ts";
import css from "./alerts.module.css";
import { ValueChart } from "./value-chart.tsx";
import { valueText } from "./words.ts";

/** Milliseconds without a change before the service is asked: a preview reads 7 days of entries. */
const PAUSE_MS = 700;
/** Firings that are listed. */
const LISTED = 100;

interface PreviewPanelProps {
  workspaceId: string;
  projectId: string;
  /** `null` while the rule is not complete. */
  rule: Deciding | null;
  onPreview: (preview: Preview | null) => void;
  /** Counts by the entries' own times instead. */
  onOwnTimes: () => void;
}

/** What a rule would have decided in the last 7 days, while it is written. */
export function PreviewPanel({ workspaceId, projectId, rule, onPreview, onOwnTimes }: PreviewPanelProps) {
  const isValid = rule !== null && parse(rule.query).ok;
  const settled = useSettled(isValid ? JSON.stringify({ projectId, rule }) : null);
  return (
    <Card title="Replay of the last 7 days">
      {settled === null ? (
        <Empty title="No preview yet">
          <p>Write a query and a condition: the times at which the alert would have fired appear here.</p>
        </Empty>
      ) : (
        <Replayed
          key={projectId}
          workspaceId={workspaceId}
          text={settled}
          onPreview={onPreview}
          onOwnTimes={onOwnTimes}
        />
      )}
    </Card>
  );
}

/** Returns a text once it has not changed for a while; `null` at once. */
function useSettled(text: string | null): string | null {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text === null ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === null ? null : settled;
}

interface ReplayedProps {
  workspaceId: string;
  /** JSON of the project and the rule. */
  text: string;
  onPreview: (preview: Preview | null) => void;
  onOwnTimes: () => void;
}

function Replayed({ workspaceId, text, onPreview, onOwnTimes }: ReplayedProps) {
  // SAFETY: written by the panel.
  const { projectId, rule } = JSON.parse(text) as { projectId: string; rule: Deciding };
  const { data, failure, reload } = useLoad(text, (signal) => previewAlert(workspaceId, projectId, rule, signal));
  useEffect(() => onPreview(data), [data]);
  // The editor shows what is wrong with a member beside its input.
  if (failure !== null && failure.code !== "VALIDATION_ERROR") return <Failure failure={failure} onRetry={reload} />;
  if (failure !== null) return <p role="alert">{failure.details[0]?.message ?? failure.message}</p>;
  return (
    <>
      {/* As high as its text, so that the chart stays in its place. */}
      <div class={css.outcomeLine}>{data === null ? <Loading what="Replaying" /> : <Outcome preview={data} />}</div>
      <ValueChart
        workspaceId={workspaceId}
        projectId={projectId}
        rule={rule}
        decisions={data?.decisions ?? []}
        shownNotes={data?.notes ?? []}
        onOwnTimes={onOwnTimes}
      />
      {data === null ? null : <Remarks preview={data} />}
      {data === null ? null : <Firings preview={data} condition={rule.condition} />}
    </>
  );
}

function Outcome({ preview: { firings, late, entries: read } }: { preview: Preview }) {
  return (
    <p role="status">
      <Badge tone={firings === 0 && late === 0 ? "good" : "warn"}>
        {firings === 0
          ? "Would not have fired"
          : `Would have fired ${firings === 1 ? "once" : `${number(firings)} times`}`}
      </Badge>{" "}
      <span class={css.hint}>{entries(read)} read</span>
    </p>
  );
}

function Remarks({ preview: { complete, through, notCounted, late, notes } }: { preview: Preview }) {
  return (
    <div role="status">
      <Notes notes={notes} />
      {complete ? null : (
        <p class={css.hint}>
          The project has more entries than one preview reads. Times after <Time at={through} /> are missing.
        </p>
      )}
      {late === 0 ? null : (
        <p class={css.hint}>
          {entries(late)} arrived after their windows had been decided, as in an import. The chart shows them, but they
          could not fire. Entries that arrive within the delay can.
        </p>
      )}
      {notCounted === 0 ? null : <p class={css.hint}>{entries(notCounted)} in groups without room.</p>}
    </div>
  );
}

function Firings({ preview: { decisions, firings }, condition }: { preview: Preview; condition: Condition }) {
  const fired = decisions.filter(({ kind }) => kind === "firing").reverse();
  if (fired.length === 0) return null;
  return (
    <section>
      <h3>Firings and their values</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable list must be reachable by keyboard. */}
      <ol class={css.firings} aria-label="Firings, newest first" tabIndex={0}>
        {fired.slice(0, LISTED).map((firing) => (
          <li key={`${firing.at} ${groupText(firing)}`}>
            <Time at={firing.at} /> <b>{valueText(firing, condition)}</b>{" "}
            <span class={css.group}>{visible(groupText(firing))}</span>
          </li>
        ))}
        {firings > LISTED ? <li class={css.hint}>{number(firings - LISTED)} more</li> : null}
      </ol>
    </section>
  );
}
