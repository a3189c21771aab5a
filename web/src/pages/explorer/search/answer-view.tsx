import { useMemo, useRef } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import type { PanelKind } from "../../../model/boards.ts";
import type { LogEntry } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import type { CompareRange } from "../../investigate/releases/releases.ts";
import type { Range, Times } from "../view/range.ts";
import { AnswerChart } from "./answer-chart.tsx";
import { AnswerTable } from "./answer-table.tsx";
import css from "./answer-view.module.css";
import { Notes } from "./notes.tsx";

interface Answered {
  matched: number;
  scanned: number;
  complete: boolean;
  notes: string[];
  tookMs: number;
  /** The times that were searched, ISO 8601. */
  range: { from: string | null; to: string | null };
}

export interface Table {
  columns: { name: string; type: string }[];
  rows: unknown[][];
}

export type SearchAnswer = Answered & (({ kind: "table" } & Table) | { kind: "entries"; logs: LogEntry[] });

interface AnswerViewProps {
  workspaceId: string;
  projectId: string | null;
  query: string;
  times: Times;
  /** The range that the times are of. */
  chosen: Range;
  /** A new key asks again. */
  round: string;
  /** How the table is drawn; absent: as fits the query. */
  chart: PanelKind | undefined;
  onChart: (kind: PanelKind) => void;
  /** What the marks of releases offer. */
  onShow: (query: string, start: number, end: number) => void;
  onZoom: (start: number, end: number) => void;
  onZoomOut: () => void;
  onCompare: CompareRange | undefined;
}

/** The answer to a query that makes a table, with a chart if it is over spans of time. */
export function AnswerView({ workspaceId, projectId, query: text, times, ...rest }: AnswerViewProps) {
  const { round, chosen, chart, onChart, ...acts } = rest;
  const { from, to } = times;
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const body = { query: text, ...range, ...(projectId === null ? {} : { projectId }) };
  const loaded = useLoad(`${round} ${JSON.stringify(body)}`, async (signal) => {
    return (await authorized<SearchAnswer>("/logger/search", { workspaceId, body, signal })).data;
  });
  // A refresh keeps the table until the next one is there.
  const shown = `${workspaceId} ${projectId} ${text}`;
  const last = useRef<{ shown: string; answer: SearchAnswer } | null>(null);
  if (loaded.data !== null) last.current = { shown, answer: loaded.data };
  const answer = last.current?.shown === shown ? last.current.answer : null;
  const table = useMemo(() => answer && tableOf(answer), [answer]);
  const failure = loaded.failure === null ? null : <Failure failure={loaded.failure} onRetry={loaded.reload} />;
  if (answer === null || table === null) return failure ?? <Loading />;
  const { rows } = table;
  return (
    <>
      {failure}
      <div class={css.answer} aria-busy={loaded.busy && failure === null} data-stale={loaded.busy || failure !== null}>
        <p class={css.status} role="status">
          {`${counted(answer.matched, "entry", "entries")} found in ${count(answer.tookMs)} ms, shown in ${counted(rows.length, "row")}.`}
          {answer.complete ? "" : " Older entries are missing: narrow the query or the time range."}{" "}
          <span class={css.scanned}>{count(answer.scanned)} scanned</span>
        </p>
        <Notes notes={answer.notes} />
        {rows.length === 0 ? <Empty title="No rows" /> : null}
        {answer.kind === "table" && rows.length > 0 ? (
          <AnswerChart
            workspaceId={workspaceId}
            projectId={projectId}
            query={text}
            table={answer}
            range={answer.range}
            times={times}
            chosen={chosen}
            kind={chart}
            onKind={onChart}
            {...acts}
          />
        ) : null}
        {answer.kind === "table" || rows.length === 0 ? null : <AnswerTable table={table} query={text} chosen={null} />}
      </div>
    </>
  );
}

function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}

function count(value: number): string {
  return value.toLocaleString();
}

/** Entries as a table, for queries whose pipes choose entries otherwise than by time. */
export function tableOf(answer: SearchAnswer): Table {
  if (answer.kind === "table") return answer;
  const columns = ["time", "level", "category", "type", "message"].map((name) => ({
    name,
    type: name === "time" ? "time" : "string",
  }));
  const rows = answer.logs.map(({ timestamp, level, category, type, message }) => [
    timestamp,
    level,
    category,
    type,
    message,
  ]);
  return { columns, rows };
}
