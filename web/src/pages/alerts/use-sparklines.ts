import { useLoad } from "../../lib/load.ts";
import type { Alert } from "../../model/alerts.ts";
import { authorized } from "../../session/session.ts";
import type { PanelAnswer } from "../boards/use-answers.ts";
import { valuesQuery } from "./alert-query.ts";

/** Values by the id of their alert. */
export type Sparklines = ReadonlyMap<string, readonly number[]>;

const SPAN_MS = 24 * 3_600_000;
/** Milliseconds of a value. */
const BIN_MS = 1_800_000;

/**
 * Values of the last 24 hours by alert, of one request. A failure only leaves them out.
 * @param alerts of a batch; empty until it is to be loaded
 * @returns `null` until they are loaded
 */
export function useSparklines(workspaceId: string, alerts: readonly Alert[]): Sparklines | null {
  const key = JSON.stringify([workspaceId, alerts.map(({ id, query }) => [id, query])]);
  const { data } = useLoad(key, async (signal) => {
    const to = Math.ceil(Date.now() / BIN_MS) * BIN_MS;
    const times = { from: new Date(to - SPAN_MS).toISOString(), to: new Date(to).toISOString() };
    const queries = alerts.flatMap(({ id, projectId, query }) => {
      const values = valuesQuery(query, BIN_MS, false);
      return values === null ? [] : [{ id, body: { query: values, projectId, ...times } }];
    });
    if (queries.length === 0) return new Map<string, number[]>();
    const body = { queries: queries.map((each) => each.body) };
    const { data } = await authorized<{ answers: PanelAnswer[] }>("/logger/search/batch", {
      workspaceId,
      body,
      signal,
    });
    return new Map(
      queries.flatMap(({ id }, at) => {
        const values = valuesOf(data.answers[at], to - SPAN_MS);
        return values === null ? [] : [[id, values] as const];
      }),
    );
  });
  return data;
}

/** Returns the values of a table with a time and a number in each row, 0 where it has none. */
function valuesOf(answer: PanelAnswer | undefined, from: number): number[] | null {
  if (answer === undefined || !answer.ok || answer.kind !== "table") return null;
  const time = answer.columns.findIndex(({ type }) => type === "time");
  const value = answer.columns.findIndex(({ type }, at) => at !== time && type === "number");
  const values = new Array<number>(SPAN_MS / BIN_MS).fill(0);
  for (const row of answer.rows) {
    const at = Math.round((Date.parse(String(row[time])) - from) / BIN_MS);
    const found = row[value];
    if (at >= 0 && at < values.length && typeof found === "number") values[at] = found;
  }
  return values;
}
