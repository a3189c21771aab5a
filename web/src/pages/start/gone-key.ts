import { useEffect, useRef } from "preact/hooks";
import { failureOf } from "../../api/failure.ts";
import { usePoll } from "../../lib/poll.ts";
import { hasEnded } from "../../model/key-state.ts";
import type { ApiKey, MadeKey } from "../../model/types.ts";
import { allOf } from "../../model/workspaces.ts";

/** Milliseconds between two checks of a visible page. */
const CHECK_MS = 10_000;

/** Calls `onGone` once the service says that a key is no longer valid: another tab may have ended it, or its project. */
export function useGoneKey(workspaceId: string, key: MadeKey | null, onGone: () => void): void {
  const shown = useRef<string | null>(null);
  shown.current = key?.id ?? null;
  useEffect(
    () => () => {
      shown.current = null;
    },
    [],
  );
  const check = (): void => {
    if (key === null) return;
    // By the time of the answer the page may show another key, or be left.
    isGone(workspaceId, key).then((isGone) => isGone && shown.current === key.id && onGone());
  };
  // A key that the page was opened with may be old.
  useEffect(check, []);
  usePoll(check, CHECK_MS);
}

async function isGone(workspaceId: string, { id, projectId }: MadeKey): Promise<boolean> {
  try {
    const keys = await allOf<ApiKey>(`/projects/${projectId}/keys`, workspaceId);
    const own = keys.find((key) => key.id === id);
    return own === undefined || hasEnded(own, Date.now());
  } catch (error) {
    // Without its project or workspace. A call that failed, or a role that lists no keys, says nothing of the key.
    return failureOf(error).status === 404;
  }
}
