import { useEffect, useState } from "preact/hooks";
import { authorized } from "../../../session/session.ts";
import { type LedgerItem, type Missing, missingIn } from "./missing.ts";

const NONE: ReadonlyMap<number, Missing> = new Map();
/** Milliseconds of the ledger that is read, at least, and items of it. */
const SPAN_MS = 7 * 24 * 60 * 60 * 1000;
const LIMIT = 200;

/**
 * Loads where entries of a project are missing. A failure only hides the marks: the ledger itself is the list.
 * @param key of the results; a new one loads again
 * @param isWanted once the list is shown
 */
export function useMissing(
  workspaceId: string,
  projectId: string | null,
  from: string | undefined,
  key: string,
  isWanted: boolean,
): ReadonlyMap<number, Missing> {
  const [missing, setMissing] = useState<ReadonlyMap<number, Missing>>(NONE);
  useEffect(() => setMissing(NONE), [workspaceId, projectId]);
  useEffect(() => {
    if (projectId === null || !isWanted) return;
    const controller = new AbortController();
    const start = Math.min(from === undefined ? Number.POSITIVE_INFINITY : Date.parse(from), Date.now() - SPAN_MS);
    const path = `/projects/${encodeURIComponent(projectId)}/ledger?kind=gap&limit=${LIMIT}&from=${Math.max(0, start)}`;
    authorized<{ items: LedgerItem[] }>(path, { workspaceId, signal: controller.signal }).then(
      ({ data }) => {
        // An equal value renders no row again.
        if (!controller.signal.aborted) setMissing(data.items.length === 0 ? NONE : missingIn(data.items));
      },
      () => undefined,
    );
    return () => controller.abort();
  }, [workspaceId, projectId, key, isWanted]);
  return missing;
}
