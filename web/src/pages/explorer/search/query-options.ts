import { useLayoutEffect, useMemo } from "preact/hooks";
import type { Times } from "../view/range.ts";
import { askedQueries } from "./history.ts";
import { basisText, type Suggestion } from "./suggestions.ts";
import { useSuggestions } from "./use-suggestions.ts";

export { rememberQuery } from "./history.ts";

/** A text that the list offers: a whole query of the history, or one that continues what is typed. */
export interface Option {
  label: string;
  /** The whole text with it, and where the cursor goes. */
  query: string;
  position: number;
  /** What it is: a field, a value, a pipe. */
  kind?: string | undefined;
  count?: number | undefined;
}

export interface Offered {
  options: readonly Option[];
  /** What the counts beside the options count; `null` if there are none. */
  basis: string | null;
}

interface QueryOptionsProps {
  workspaceId: string;
  projectId: string | null;
  times: Times;
  text: string;
  position: number;
  onOptions: (offered: Offered) => void;
}

/** Finds what a text may continue with: what the service suggests, or for an empty text earlier queries. */
export function QueryOptions({ workspaceId, projectId, times, text, position, onOptions }: QueryOptionsProps): null {
  const isEmpty = text.trim() === "";
  const suggestions = useSuggestions(workspaceId, projectId, times, isEmpty ? null : { query: text, position });
  const offered = useMemo((): Offered => {
    if (isEmpty) {
      const asked = askedQueries(workspaceId);
      return { options: asked.map((query) => ({ label: query, query, position: query.length })), basis: null };
    }
    if (suggestions === null) return { options: [], basis: null };
    const { start, end, items, basis } = suggestions;
    const options = items.map((item): Option => {
      const query = text.slice(0, start) + item.text + text.slice(end);
      return { label: item.text, query, position: start + item.text.length, kind: kindOf(item), count: item.count };
    });
    return { options, basis: basis ? basisText(basis) : null };
  }, [workspaceId, text, suggestions]);
  useLayoutEffect(() => onOptions(offered), [offered]);
  return null;
}

/** Says what a suggestion is: of a field its type. */
function kindOf({ kind, type }: Suggestion): string {
  return kind === "field" && type !== undefined ? type : kind;
}
