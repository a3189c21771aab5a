import { authorized } from "../../session/session.ts";
import { MINUTES, type Now, nowOf, type Table } from "./now.ts";

const QUERIES = [
  `time:${MINUTES}m | stats count() as n by bin(1m)`,
  "level:>=warn time:1d | patterns vs 1d | where before:0 | limit 6",
];

/** Loads what changes from minute to minute, with one request on one snapshot. */
export async function loadNow(workspaceId: string, signal: AbortSignal): Promise<Now> {
  const body = { queries: QUERIES.map((query) => ({ query })) };
  const { data } = await authorized<{ answers: Table[] }>("/logger/search/batch", { workspaceId, body, signal });
  return nowOf(data.answers, Date.now());
}
