import { useRef } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import { countLogs } from "../query.ts";
import type { Times } from "../view/range.ts";

/** A category or type that occurs, and how often. */
export interface Seen {
  name: string;
  count: number;
}

/**
 * The categories or types of all entries in a time, most frequent first; empty until they are known. They only help
 * choosing, so a failure leaves them away; who types a name needs none.
 */
export function useNames(
  groupBy: "category" | "type",
  workspaceId: string,
  projectId: string | null,
  times: Times,
  wanted: boolean,
): readonly Seen[] {
  const { from, to } = times;
  const current = JSON.stringify([groupBy, workspaceId, projectId, from, to]);
  const begun = useRef("");
  if (wanted) begun.current = current;
  // What is there stays while something else is waited for.
  const key = begun.current;
  const { data } = useLoad(key, async (signal): Promise<Seen[]> => {
    if (key === "") return [];
    const filters = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const request = { ...(projectId === null ? {} : { projectId }), filters, interval: "1d", groupBy } as const;
    const { buckets } = await countLogs(workspaceId, request, signal);
    const counts = new Map<string, number>();
    for (const { groups } of buckets) {
      for (const [name, count] of Object.entries(groups ?? {})) counts.set(name, (counts.get(name) ?? 0) + count);
    }
    return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
  });
  return data ?? [];
}
