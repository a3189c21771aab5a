import { useEffect, useState } from "preact/hooks";
import { authorized } from "../../../session/session.ts";
import type { Times } from "../view/range.ts";

export interface Suggestion {
  text: string;
  kind: string;
  count?: number;
}

/** Suggestions for a place of a text. They replace the text from `start` to `end`. */
export interface Suggestions {
  query: string;
  start: number;
  end: number;
  items: Suggestion[];
}

/** Milliseconds without a letter before the service is asked. */
const PAUSE_MS = 150;
const SHOWN = 12;

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
    setSuggestions(null);
    if (typed === null) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const body = { ...typed, ...range, ...(projectId === null ? {} : { projectId }) };
      authorized<Omit<Suggestions, "query">>("/logger/search/suggest", {
        workspaceId,
        body,
        signal: controller.signal,
      }).then(
        ({ data: { start, end, items } }) => {
          if (controller.signal.aborted) return;
          setSuggestions({ query: typed.query, start, end, items: items.slice(0, SHOWN) });
        },
        () => undefined,
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, workspaceId, projectId]);
  return suggestions?.query === typed?.query ? suggestions : null;
}
