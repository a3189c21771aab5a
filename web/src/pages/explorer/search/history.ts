import { keep } from "../../../lib/keep.ts";

/** Queries that were asked in this browser, by workspace, newest first. */

const PREFIX = "taffrail.queries.";
const KEPT = 20;

export function askedQueries(workspaceId: string): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + workspaceId) ?? "[]");
    return Array.isArray(value) ? value.filter((each) => typeof each === "string").slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

export function rememberQuery(workspaceId: string, query: string): void {
  if (query.trim() === "") return;
  const queries = [query, ...askedQueries(workspaceId).filter((each) => each !== query)].slice(0, KEPT);
  keep(PREFIX + workspaceId, JSON.stringify(queries));
}
