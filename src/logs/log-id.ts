import { fromBase62, ID_LENGTH, isId, toBase62 } from "../ids.ts";

/** An entry's id is its project and `seq`: nothing is stored for it, and it never changes between tiers. */
export function logId(projectId: string, seq: number): string {
  return `log_${projectId.slice(5)}${toBase62(seq)}`;
}

/** The project and `seq` behind an id; null for anything that `logId` cannot have written. */
export function parseLogId(id: string): { projectId: string; seq: number } | null {
  const projectId = `proj_${id.slice(4, 4 + ID_LENGTH)}`;
  if (!id.startsWith("log_") || !isId("proj", projectId)) return null;
  const seq = fromBase62(id.slice(4 + ID_LENGTH));
  return seq === null || seq < 1 ? null : { projectId, seq };
}
