import type { FlushedRange } from "./flush/ledger.ts";
import { flushedRangesAfter } from "./flush/ledger.ts";
import { findProject, listProjects } from "./projects.ts";
import { readUsage, type Usage } from "./usage.ts";

/** What an operator sees of a project: how far it is, and how far the cold tier has it. */
export interface InspectedProject {
  num: number;
  id: string;
  lastSeq: number;
  flushedSeq: number;
}

export interface Inspection {
  usage: Usage;
  /** Some of the projects, in order of creation. */
  projects: InspectedProject[];
}

/** @param cursor `num` of the last project of the page before */
export function inspect(sql: SqlStorage, now: number, cursor: number, limit: number): Inspection {
  const projects = listProjects(sql, cursor, limit).map(({ num, id, lastSeq, flushedSeq }) => {
    return { num, id, lastSeq, flushedSeq };
  });
  return { usage: readUsage(sql, now), projects };
}

/** Some of the ranges that a project has in the cold tier, in order of `seq`; null where there is no such project. */
export function flushedRanges(
  sql: SqlStorage,
  projectId: string,
  after: number,
  limit: number,
): { flushedSeq: number; ranges: FlushedRange[] } | null {
  const project = findProject(sql, projectId);
  return project && { flushedSeq: project.flushedSeq, ranges: flushedRangesAfter(sql, project.num, after, limit) };
}
