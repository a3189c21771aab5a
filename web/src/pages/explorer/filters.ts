import type { Level } from "../../model/types.ts";

export type Scalar = string | number | boolean | null;

/** A condition on one member of `data`, as the API takes it. */
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

/** The filters of a query, exactly as `POST /logger/query` takes them. An absent member filters nothing. */
export interface Filters {
  level?: Level[];
  minLevel?: Level;
  category?: string[];
  type?: string[];
  session?: string;
  traceId?: string;
  /** Inclusive, ISO 8601. */
  from?: string;
  /** Exclusive, ISO 8601. */
  to?: string;
  search?: string;
  /** By path: `a.b`, or `["a.b"]` for a member whose name has a dot. */
  data?: Record<string, DataCondition>;
}

/** One filter that a click on an entry adds: members given here take the place of those that are there; `data` is merged. */
export type FilterPatch = Filters;
