import type { EntryPlace } from "../context/use-neighbours.ts";

/** Between a project and its entry, where the page is of all projects. No id contains it. */
const SEPARATOR = ".";

/** The entry that a parameter names on the page of a project, or of all where that is null. */
export function readPlace(text: string | undefined, projectId: string | null): EntryPlace | null {
  if (!text) return null;
  if (projectId !== null) return { projectId, id: text };
  const at = text.indexOf(SEPARATOR);
  return at <= 0 || at === text.length - 1 ? null : { projectId: text.slice(0, at), id: text.slice(at + 1) };
}

export function placeText({ projectId, id }: EntryPlace, pageOf: string | null): string {
  return pageOf === null ? `${projectId}${SEPARATOR}${id}` : id;
}
