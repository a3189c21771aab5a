import { useEffect, useMemo, useState } from "preact/hooks";
import { authorized } from "../../../session/session.ts";
import type { Times } from "../view/range.ts";
import { narrowed, type Suggestions } from "./suggestions.ts";

/** Milliseconds without a letter before the service is asked. */
const PAUSE_MS = 120;

/** Asks the service how a text may continue while it is being written. A failure only hides the suggestions. */
export function useSuggestions(
  workspaceId: string,
  projectId: string | null,
  { from, to }: Times,
  typed: { query: string; position: number } | null,
): Suggestions | null {
  const [suggestions, setSuggestions] = useState<Suggestions | null>(null);
  const key = typed === null ? "" : `${typed.position} ${typed.query}`;
  useEffect(() => {
    if (typed === null) {
      setSuggestions(null);
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const body = { ...typed, ...range, ...(projectId === null ? {} : { projectId }) };
      authorized<Omit<Suggestions, "query">>("/logger/search/suggest", {
        workspaceId,
        body,
        signal: controller.signal,
      }).then(
        ({ data: { start, end, items, basis } }) => {
          if (!controller.signal.aborted) setSuggestions({ query: typed.query, start, end, items, basis });
        },
        () => {
          if (!controller.signal.aborted) setSuggestions(null);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, workspaceId, projectId]);
  const current = useMemo(
    () => (suggestions === null || typed === null ? null : narrowed(suggestions, typed.query)),
    [suggestions, typed?.query],
  );
  return current;
}
