/** Limits of a query, from the HTTP contract where it names one. */
export const QUERY_LIMITS = {
  offset: 10_000,
  /** Rows of one page. */
  limit: 1000,
  limitDefault: 100,
  /** Characters of `search`. A substring search in hostile text costs the product of both lengths. */
  search: 512,
  /** Values in a list of categories, types or `in`. */
  values: 1000,
  /** Paths in `data`. */
  paths: 100,
  /** Names in a path: twice as many as stored `data` is deep. */
  pathNames: 64,
} as const;

/** What one request may cost before its answer becomes a partial one. Units of work: see `work.ts`. */
export interface QueryBudget {
  /** Units of work of one page or histogram, 1.25 s. What finds batches and segments counts, too; see `segment-walk.ts`. */
  work: number;
  /** Bytes of the lines held while scanning, those of an offset's rows included: bounds the isolate's memory. */
  heldBytes: number;
  /** Bytes of the lines in one answer. */
  answerBytes: number;
  /** Rows that one sweep finds: each takes some 30 characters of its cursor. See `sweep.ts`. */
  resumableRows: number;
}

export const QUERY_BUDGET: QueryBudget = {
  work: 800 * 1024 * 1024,
  heldBytes: 6 * 1024 * 1024,
  answerBytes: 4 * 1024 * 1024,
  resumableRows: 100,
};
