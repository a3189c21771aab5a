import { completionAt } from "../../../../src/logs/search/completion.ts";
import { needsEntries, suggestionsAt } from "../../../../src/logs/search/suggest.ts";
import type { LogEntry } from "../../model/types.ts";
import type { Suggestions } from "../explorer/search/suggestions.ts";

/** Suggests how a query may continue from loaded entries, with the rules of the service: typing costs no read. */
export function suggest(body: unknown, entries: readonly LogEntry[]): Omit<Suggestions, "query"> {
  // SAFETY: the body that the explorer sends to `POST /logger/search/suggest`.
  const { query, position } = body as { query: string; position: number };
  const completion = completionAt(query, position);
  const isCounted = needsEntries(completion);
  return {
    start: completion.start,
    end: completion.end,
    items: suggestionsAt(completion, entries, null),
    basis: { kind: isCounted ? "newest" : "none", entries: isCounted ? entries.length : 0, complete: false },
  };
}
