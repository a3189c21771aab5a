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
} as const;

/** What one request may cost before its answer becomes a partial one. */
export interface QueryBudget {
  /** Bytes of batches looked through, uncompressed. What finds them counts as so many bytes; see `segment-walk.ts`. */
  scanBytes: number;
  /** Characters of the lines held while scanning, those of an offset's rows included: bounds the isolate's memory. */
  heldCharacters: number;
  /** Characters of the lines in one answer. */
  answerCharacters: number;
}

/** Scanning costs about 1.5 ms a MiB, holding and answering stay far below an isolate's 128 MiB. */
export const QUERY_BUDGET: QueryBudget = {
  scanBytes: 512 * 1024 * 1024,
  heldCharacters: 24 * 1024 * 1024,
  answerCharacters: 8 * 1024 * 1024,
};
