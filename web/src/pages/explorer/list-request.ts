import type { QueryRequest } from "./actions/curl.ts";
import type { Filters } from "./filters.ts";
import type { Times } from "./view/range.ts";
import type { View } from "./view/view.ts";

/** Entries of one page: a few screens. */
export const PAGE = 100;

/** Adds the bounds of a range to filters. */
export function within(filters: Filters, { from, to }: Pick<Times, "from" | "to">): Filters {
  return { ...filters, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** The request for the entries of a view, without its page. */
export function listRequest(projectId: string | null, filters: Filters, order: View["order"]): QueryRequest {
  return { ...(projectId === null ? {} : { projectId }), filters, order };
}

/** The request for the first page. */
export function firstPage(request: QueryRequest): QueryRequest {
  return { ...request, pagination: { limit: PAGE } };
}
