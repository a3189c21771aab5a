import type { Level } from "../../model/types.ts";

export type Scalar = string | number | boolean | null;

/** A condition on one member of `data`, as the API accepts it. */
export type DataCondition =
  | Scalar
  | {
      eq?: Scalar;
      ne?: Scalar;
      gt?: Scalar;
      gte?: Scalar;
      lt?: Scalar;
      lte?: Scalar;
      in?: Scalar[];
      exists?: boolean;
    };

/** The filters of a query, as `POST /logger/query` accepts them. An absent member does not filter. */
export interface Filters {
  level?: Level[];
  minLevel?: Level;
  category?: string[];
  type?: string[];
  session?: string;
  traceId?: string;
  service?: string[];
  host?: string[];
  /** Inclusive, ISO 8601. */
  from?: string;
  /** Exclusive, ISO 8601. */
  to?: string;
  search?: string;
  /** In the query language, without pipes. A member of requests beside their `filters`; see `requestBody`. */
  q?: string;
  /** By path: `a.b`, or `["a.b"]` for a member whose name has a dot. */
  data?: Record<string, DataCondition>;
}

/** A filter added by a click on an entry: its members replace existing ones; `data` is merged. */
export type FilterPatch = Omit<Filters, "q">;

/** Returns a request as the API takes it. */
export function requestBody<R extends { filters?: Filters; order?: "desc" | "asc" }>({
  filters,
  ...request
}: R): Omit<R, "filters"> & { q?: string } {
  const { q, ...simple } = filters ?? {};
  return { ...request, ...(filters ? { filters: simple } : {}), ...(q === undefined ? {} : { q }) };
}
