import { z } from "zod";
import type { QueryBudget } from "../query/budget.ts";
import { decodeSnapshot } from "../query/cursor.ts";
import { asOfMember, QUERY_MEMBERS, searchAnswerSchema } from "./search-schema.ts";

/** Queries of one batch. */
export const MAX_QUERIES = 20;

/** A query of a batch. Its text is parsed when its turn comes, so that an invalid one has its own error. */
const batchQuery = z.strictObject({
  ...QUERY_MEMBERS,
  query: z.string().describe("A query in the query language. One that is invalid has its own error."),
});

/** Body of `POST /logger/search/batch`. */
export const BatchBody = z
  .strictObject({ queries: z.array(batchQuery).min(1).max(MAX_QUERIES), asOf: asOfMember })
  .transform(({ queries, asOf }, ctx) => {
    const snapshot = asOf === undefined ? null : decodeSnapshot(asOf);
    if (asOf !== undefined && snapshot === null)
      ctx.addIssue({ code: "custom", path: ["asOf"], message: "Invalid snapshot. Send asOf of an earlier response." });
    return { queries, snapshot };
  });

const [entriesAnswer, tableAnswer] = searchAnswerSchema.options;

/** Documents the answer of `POST /logger/search/batch`. */
export const batchAnswerSchema = z.object({
  asOf: z.string().describe("The snapshot of all answers. Send it back to ask the same again."),
  answers: z
    .array(
      z.union([
        // No intersection: neither schema would permit the members of the other.
        entriesAnswer.extend({ ok: z.literal(true) }),
        tableAnswer.extend({ ok: z.literal(true) }),
        z.object({
          ok: z.literal(false),
          error: z
            .object({
              code: z.enum(["VALIDATION_ERROR", "NOT_FOUND", "SERVICE_UNAVAILABLE"]),
              message: z.string(),
              details: z.array(z.looseObject({ path: z.string(), code: z.string(), message: z.string() })),
            })
            .describe(
              "Why this query has no answer. Paths of `details` are members of the query. SERVICE_UNAVAILABLE: the queries before it used up the work of the request.",
            ),
        }),
      ]),
    )
    .describe("In the order of the queries."),
});

/** Shares the budget of one search among the queries of a batch. What a query leaves is for the later ones. */
export class BatchShares {
  readonly #budget: QueryBudget;
  #left: number;
  #work: number;
  #bytes: number;

  /** @param queries their number */
  constructor(budget: QueryBudget, queries: number) {
    this.#budget = budget;
    this.#left = queries;
    this.#work = budget.work;
    this.#bytes = budget.answerBytes;
  }

  /** Whether nothing is left. Each query of entries reads at least one part of a segment, however long that takes. */
  get isSpent(): boolean {
    return this.#work <= 0;
  }

  /** Returns the budget of the next query: an equal share of what is left. */
  next(): QueryBudget {
    const share = (total: number) => Math.max(0, Math.floor(total / Math.max(1, this.#left)));
    return { ...this.#budget, work: share(this.#work), answerBytes: share(this.#bytes) };
  }

  /** Takes what a query used. Call once for each query. */
  used(work: number, bytes: number): void {
    this.#left--;
    this.#work -= work;
    this.#bytes -= bytes;
  }
}
