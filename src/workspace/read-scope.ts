import { findProjectByNum, listProjects, type ProjectRow } from "./projects.ts";

/** The projects that a read searches: the one admitted, or all. Read anew: a flush changes rows that caches still hold. */
export function readableProjects(sql: SqlStorage, admitted: ProjectRow | null): ProjectRow[] {
  if (admitted === null) return listProjects(sql, 0, Number.MAX_SAFE_INTEGER);
  const project = findProjectByNum(sql, admitted.num);
  return project ? [project] : [];
}
