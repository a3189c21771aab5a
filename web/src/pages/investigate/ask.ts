import { ApiFailure } from "../../api/failure.ts";
import type { RequestOptions } from "../../api/request.ts";
import type { Table } from "../../charts/chart-data.ts";
import type { LogEntry } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import type { BatchQuery } from "../boards/board-query.ts";
import type { PanelAnswer } from "../boards/use-answers.ts";

/** The table or the entries of one query, and what to know about it. */
export interface Answer extends Table {
  logs: readonly LogEntry[];
  matched: number;
  complete: boolean;
  notes: readonly string[];
}

/**
 * Runs at most 20 queries on one snapshot.
 * @throws ApiFailure also if one of the queries is not valid
 */
export async function ask(
  workspaceId: string,
  queries: readonly BatchQuery[],
  signal: AbortSignal,
  options: Pick<RequestOptions, "followsSearch"> = {},
): Promise<Answer[]> {
  const { data } = await authorized<{ answers: PanelAnswer[] }>("/logger/search/batch", {
    workspaceId,
    body: { queries },
    signal,
    ...options,
  });
  return data.answers.map((answer) => {
    if (!answer.ok) {
      const { code, message, details } = answer.error;
      throw new ApiFailure(details[0]?.message ?? message, { code, status: code === "NOT_FOUND" ? 404 : 400 });
    }
    const { matched, complete, notes } = answer;
    const table = answer.kind === "table" ? answer : { columns: [], rows: [] };
    const logs = answer.kind === "entries" ? answer.logs : [];
    return { columns: table.columns, rows: table.rows, logs, matched, complete, notes };
  });
}

/** A query for a batch. */
export function queryFor(query: string, projectId: string | null, bounds: { from?: string; to?: string }): BatchQuery {
  return { query, ...bounds, ...(projectId === null ? {} : { projectId }) };
}

/** Returns the notes of several answers, each once. */
export function notesOf(answers: readonly Answer[]): string[] {
  const notes = new Set(answers.flatMap((answer) => answer.notes));
  if (answers.some(({ complete }) => !complete))
    notes.add("Older entries are missing: narrow the query or the time range.");
  return [...notes];
}
