import { z } from "zod";

/** Arguments that several tools have. Descriptions are short: every agent reads them with each list of the tools. */

/** Bounds of the argument `max_tokens`. */
const TOKENS = { min: 500, max: 20_000, default: 4_000 } as const;

export const maxTokens = z.int().min(TOKENS.min).max(TOKENS.max).default(TOKENS.default);
export const project = z.string().max(100).optional().describe("Id or name; default: all that you may read.");

export const asked = {
  project,
  from: z.string().max(40).optional().describe("ISO 8601."),
  to: z.string().max(40).optional(),
  as_of: z.string().max(200).optional().describe("Of an earlier answer: asks the same entries again."),
  next: z.string().max(16_384).optional().describe("Of the answer before; same query."),
  max_tokens: maxTokens,
} as const;

export const QUERY = z.string().max(8192);

/** Characters of a question in the audit. */
const QUESTION_CHARACTERS = 300;

/** Returns a query as the audit shows it. */
export function shownQuestion(query: string): string {
  return query.slice(0, QUESTION_CHARACTERS).toWellFormed();
}
