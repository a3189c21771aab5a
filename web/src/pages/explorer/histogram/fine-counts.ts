import type { Table } from "../../../charts/chart-data.ts";
import { authorized } from "../../../session/session.ts";
import type { Filters } from "../filters.ts";
import { bucketsOf } from "./bars.ts";
import type { Stats } from "./buckets.ts";

/**
 * Counts entries by level in spans shorter than an interval of `POST /logger/stats`.
 * @param bucketMs whole seconds in milliseconds
 */
export async function countFine(
  workspaceId: string,
  projectId: string | null,
  { q = "*", from, to }: Pick<Filters, "q" | "from" | "to">,
  bucketMs: number,
  signal: AbortSignal,
): Promise<Stats> {
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const query = `${q} | count by level, bin(${bucketMs / 1000}s)`;
  const body = { query, ...range, ...(projectId === null ? {} : { projectId }) };
  const { data } = await authorized<Table & { complete: boolean }>("/logger/search", {
    ...{ workspaceId, body, signal },
    followsSearch: true,
  });
  return { ...bucketsOf(data), complete: data.complete };
}
