import { authorized } from "../../session/session.ts";
import type { ProjectDays, UsageDays } from "./days.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY_LENGTH = "2026-11-01".length;
/** Projects of a page: the most of the API. */
const PAGE = 50;

/** Loads the entries of all projects by day, for the last `count` days. */
export async function loadDays(workspaceId: string, count: number, signal: AbortSignal): Promise<UsageDays> {
  const last = Date.now();
  const days = Array.from({ length: count }, (_, at) => dayOf(last - (count - 1 - at) * DAY_MS));
  const projects: ProjectDays[] = [];
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ from: days[0] ?? "", to: days.at(-1) ?? "", limit: String(PAGE) });
    if (cursor !== null) query.set("cursor", cursor);
    const { data } = await authorized<{ items: ProjectDays[]; nextCursor: string | null }>(
      `/workspaces/${workspaceId}/usage/days?${query}`,
      { signal },
    );
    projects.push(...data.items);
    cursor = data.nextCursor;
    if (cursor === null) return { days, projects, complete: projects.every(({ complete }) => complete) };
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, DAY_LENGTH);
}
