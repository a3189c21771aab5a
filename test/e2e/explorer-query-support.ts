import type { Locator, Page, Request } from "playwright-core";
import { call, type Tenant } from "../support/api.ts";

const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;

/** One entry as a test sends it. */
export interface SentEntry {
  level: (typeof LEVELS)[number];
  category: string;
  type: string;
  message: string;
  timestamp: number;
  session: string;
  traceId: string;
  data: { status: number; ok: boolean; plan: string | null; user: { id: number }; "a.b"?: string };
}

/** A message with many characters that are special to a shell. */
export const NASTY = `it's "$HOME" \`id\` $(id) \\ ü & ; 100%`;

const KINDS = [
  ["http", "request"],
  ["http", "response"],
  ["database", "query"],
  ["billing", "invoice"],
] as const;

/** Entries one minute apart, the newest one minute old. */
export function variedEntries(now: number): SentEntry[] {
  return Array.from({ length: 56 }, (_, index) => {
    const [category, type] = KINDS[index % KINDS.length] ?? KINDS[0];
    return {
      level: LEVELS[index % LEVELS.length] ?? "info",
      category,
      type,
      message: index === 5 ? NASTY : `entry ${index}`,
      timestamp: now - (index + 1) * 60_000,
      session: `session-${index % 3}`,
      traceId: `trace-${index % 5}`,
      data: {
        status: 200 + (index % 4) * 100,
        ok: index % 2 === 0,
        plan: index % 10 === 0 ? null : "team",
        user: { id: index },
        ...(index % 7 === 0 ? { "a.b": "dotted" } : {}),
      },
    };
  });
}

export async function send(url: string, { projectId, key }: Tenant, logs: readonly object[]): Promise<void> {
  for (let from = 0; from < logs.length; from += 1000) {
    const body = { logs: logs.slice(from, from + 1000) };
    const answer = await call(url, `/logger/${projectId}/log`, { token: key.secret, body });
    if (answer.status !== 201) throw new Error(`Sending answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
}

export function explorerPath({ account, projectId }: Tenant, search = ""): string {
  return `/w/${account.workspaceId}/p/${projectId}${search}`;
}

/** The status line with the number of entries. */
export function counted(page: Page, text: string | RegExp): Locator {
  return page.getByRole("status").filter({ hasText: text });
}

export function rows(page: Page): Locator {
  return page.getByRole("list", { name: "Log entries" }).getByRole("listitem");
}

export interface SentQuery {
  projectId?: string;
  filters: Record<string, unknown>;
  q?: string;
  order: string;
  pagination: { limit?: number; cursor?: string; includeTotal?: boolean };
}

export function queryIn(request: Request): SentQuery {
  // SAFETY: the explorer sends no other body there.
  return request.postDataJSON() as SentQuery;
}

/** The first page of the next query. */
export async function nextQuery(page: Page, passes: (query: SentQuery) => boolean = () => true): Promise<SentQuery> {
  const request = await page.waitForRequest((request) => {
    if (!request.url().endsWith("/logger/query") || request.method() !== "POST") return false;
    const query = queryIn(request);
    return query.pagination.cursor === undefined && passes(query);
  });
  return queryIn(request);
}
