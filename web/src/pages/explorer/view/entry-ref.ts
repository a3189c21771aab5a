import type { LogEntry } from "../../../model/types.ts";

/** Identifies an entry. */
export type EntryRef = Pick<LogEntry, "id" | "projectId">;

export const CONTEXTS = ["arrival", "session", "trace", "service", "host"] as const;
/** Which entries are neighbours of an entry: all of its project, or those with the same value. */
export type ContextBy = (typeof CONTEXTS)[number];

/** Separates project and entry on the page of all projects. No id contains it. */
const SEPARATOR = ".";

/**
 * Parses the parameter that identifies an entry. Without `projectId` (the page of all projects) it contains the
 * project, too.
 */
export function readEntryRef(text: string | undefined, projectId: string | null): EntryRef | null {
  if (!text) return null;
  if (projectId !== null) return { projectId, id: text };
  const at = text.indexOf(SEPARATOR);
  return at <= 0 || at === text.length - 1 ? null : { projectId: text.slice(0, at), id: text.slice(at + 1) };
}

export function entryRefText({ projectId, id }: EntryRef, pageOf: string | null): string {
  return pageOf === null ? `${projectId}${SEPARATOR}${id}` : id;
}
