import { useLayoutEffect, useMemo } from "preact/hooks";
import { loadedFields } from "../fields/loaded-fields.ts";
import type { Times } from "../view/range.ts";
import { askedQueries } from "./history.ts";
import { fieldsToBegin, withLoaded } from "./loaded-suggestions.ts";
import { basisText, SHOWN, type Suggestion } from "./suggestions.ts";
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

/** Earlier queries that an empty box offers before the fields. */
const EARLIER = 8;

/** Finds what a text may continue with: what the service suggests and the list of fields has loaded, or for an empty text earlier queries and fields. */
export function QueryOptions({ workspaceId, projectId, times, text, position, onOptions }: QueryOptionsProps): null {
  const isEmpty = text.trim() === "";
  const loaded = loadedFields(workspaceId, projectId);
  const typed = useMemo(() => ({ query: text, position }), [text, position]);
  const suggested = useSuggestions(workspaceId, projectId, times, isEmpty && loaded !== null ? null : typed);
  const offered = useMemo((): Offered => {
    if (isEmpty) {
      const asked = askedQueries(workspaceId).slice(0, EARLIER);
      const fields = loaded === null ? (suggested?.items ?? []) : fieldsToBegin(loaded);
      const begun = fields.filter(({ text }) => !asked.includes(text)).slice(0, SHOWN);
      return {
        options: [
          ...asked.map((query) => ({ label: query, query, position: query.length })),
          ...begun.map((item) => {
            return { label: item.text, query: item.text, position: item.text.length, kind: kindOf(item) };
          }),
        ],
        basis: null,
      };
    }
    const suggestions = withLoaded(typed, suggested, loaded, times);
    if (suggestions === null) return { options: [], basis: null };
    const { start, end, items, basis } = suggestions;
    const options = items.map((item): Option => {
      const query = text.slice(0, start) + item.text + text.slice(end);
      return { label: item.text, query, position: start + item.text.length, kind: kindOf(item), count: item.count };
    });
    return { options, basis: basis ? basisText(basis) : null };
  }, [workspaceId, typed, suggested, loaded, times.from, times.to]);
  useLayoutEffect(() => onOptions(offered), [offered]);
  return null;
}

/** Says what a suggestion is: of a field its type. */
function kindOf({ kind, type }: Suggestion): string {
  return kind === "field" && type !== undefined ? type : kind;
}
