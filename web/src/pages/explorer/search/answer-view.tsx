import { useMemo } from "preact/hooks";
import { parse } from "../../../../../src/query-language/parse.ts";
import { useLoad } from "../../../lib/load.ts";
import type { LogEntry } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { ScrollBox } from "../../../ui/scroll-box.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import type { Times } from "../view/range.ts";
import type { ViewFilters } from "../view/view.ts";
import { visible } from "../view/visible.ts";
import css from "./answer-view.module.css";
import { binOf, withFilters } from "./asked.ts";
import { AnswerChart } from "./chart.tsx";

interface Answered {
  matched: number;
  scanned: number;
  complete: boolean;
  notes: string[];
  tookMs: number;
}

export interface Table {
  columns: { name: string; type: string }[];
  rows: unknown[][];
}

export type SearchAnswer = Answered & (({ kind: "table" } & Table) | { kind: "entries"; logs: LogEntry[] });

/** Rows on the page. The terminal and the API have all of them. */
const SHOWN = 500;

interface AnswerViewProps {
  workspaceId: string;
  projectId: string | null;
  query: string;
  filters: ViewFilters;
  times: Times;
  /** A new key asks again. */
  round: string;
}

/** The answer to a query that makes a table, with a chart if it is over spans of time. */
export function AnswerView({ workspaceId, projectId, query, filters, times: { from, to }, round }: AnswerViewProps) {
  const text = withFilters(query, filters);
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const body = { query: text, ...range, ...(projectId === null ? {} : { projectId }) };
  const loaded = useLoad(`${round} ${JSON.stringify(body)}`, async (signal) => {
    return (await authorized<SearchAnswer>("/logger/search", { workspaceId, body, signal })).data;
  });
  const answer = loaded.data;
  const table = useMemo(() => answer && tableOf(answer), [answer]);
  if (loaded.failure !== null) return <Failure failure={loaded.failure} onRetry={loaded.reload} />;
  if (answer === null || table === null) return <Loading />;
  const { rows, columns } = table;
  return (
    <div class={css.answer}>
      <p class={css.status} role="status">
        {`${count(rows.length)} rows of ${count(answer.matched)} entries; ${count(answer.scanned)} scanned in ${count(answer.tookMs)} ms.`}
        {rows.length > SHOWN ? ` The first ${SHOWN} are shown.` : ""}
        {answer.complete ? "" : " Older entries are missing: narrow the query or the time range."}
      </p>
      {answer.notes.map((note) => (
        <p class={css.note} key={note}>
          {visible(note)}
        </p>
      ))}
      {rows.length === 0 ? <Empty title="No rows" /> : null}
      <AnswerChart table={table} binMs={binOf(parse(query))} />
      {rows.length === 0 ? null : (
        <ScrollBox label="Answer">
          <table class={css.table}>
            <thead>
              <tr>
                {columns.map(({ name, type }) => (
                  <th key={name} scope="col" data-number={type === "number"}>
                    {visible(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, SHOWN).map((row, at) => (
                <tr key={at}>
                  {columns.map(({ name, type }, column) => (
                    <td key={name} data-number={type === "number"}>
                      {cellText(row[column], type)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </div>
  );
}

function count(value: number): string {
  return value.toLocaleString();
}

/** Characters of a cell. */
const CELL = 300;

export function cellText(value: unknown, type: string): string {
  if (value === null || value === undefined) return "–";
  if (type === "time" && typeof value === "string") return new Date(value).toLocaleString();
  if (typeof value === "number") return value.toLocaleString(undefined, { maximumFractionDigits: 3 });
  const text = visible(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > CELL ? `${text.slice(0, CELL)}…` : text;
}

/** Entries as a table, for queries whose pipes choose entries otherwise than by time. */
function tableOf(answer: SearchAnswer): Table {
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
