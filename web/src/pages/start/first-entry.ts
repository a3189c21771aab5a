import { useEffect, useRef, useState } from "preact/hooks";
import { usePoll } from "../../lib/poll.ts";
import type { LogEntry, Project } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";

/** Milliseconds between two checks. */
const CHECK_MS = 2000;
/** Milliseconds after which a check is given up. */
const WITHIN_MS = 30_000;

export type FirstEntry = Pick<LogEntry, "id" | "level" | "message" | "receivedAt">;

/** The oldest entry of a project; `null` until there is one. A check that fails is repeated with the next one. */
export function useFirstEntry(workspaceId: string, projectId: string): FirstEntry | null {
  const [first, setFirst] = useState<FirstEntry | null>(null);
  const isChecking = useRef(false);
  const check = (): void => {
    // Of a service that does not answer, the checks would wait in the browser for each other.
    if (first !== null || isChecking.current) return;
    isChecking.current = true;
    firstEntryOf(workspaceId, projectId, AbortSignal.timeout(WITHIN_MS))
      .then(setFirst, () => undefined)
      .finally(() => {
        isChecking.current = false;
      });
  };
  useEffect(check, [projectId]);
  usePoll(check, CHECK_MS);
  return first;
}

async function firstEntryOf(workspaceId: string, projectId: string, signal: AbortSignal): Promise<FirstEntry | null> {
  const { data } = await authorized<Project>(`/projects/${projectId}`, { workspaceId, signal });
  // The project's counter costs less than a query, so a project without entries is not searched.
  if (data.lastSeq === 0) return null;
  const body = { projectId, order: "asc", pagination: { limit: 1 } };
  const found = await authorized<{ logs: LogEntry[] }>("/logger/query", { workspaceId, body, signal });
  return found.data.logs[0] ?? null;
}
