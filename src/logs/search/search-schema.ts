import { z } from "zod";
import { counted } from "../../platform/bytes.ts";
import type { Query } from "../../query-language/syntax.ts";
import { storedEntrySchema } from "../entry-view.ts";
import { timeSchema } from "../ingest/timestamp.ts";
import { QUERY_LIMITS } from "../query/budget.ts";
import { type Cursor, decodeCursor, decodeSnapshot } from "../query/cursor.ts";
import { tableAnswerSchema } from "../stats/table-schema.ts";
import { completionAt } from "./completion.ts";
import { QueryText } from "./query-text.ts";
import type { SuggestQuery } from "./run-suggest.ts";
import { InvalidQuery, planSearch } from "./search-plan.ts";
import type { SearchQuery } from "./search-query.ts";

/** Rows of a table. */
const MAX_ROWS = 10_000;

/** Members of a search, beside a snapshot and a page. */
export const QUERY_MEMBERS = {
  query: QueryText,
  from: timeSchema.optional().describe("Timestamp at or after this: ISO 8601 or epoch milliseconds."),
  to: timeSchema.optional().describe("Timestamp before this: ISO 8601 or epoch milliseconds."),
  projectId: z
    .string()
    .optional()
    .describe("With an access token, limits the request to one project. A key always reads its own project."),
  limit: z
    .int()
    .min(1)
    .max(MAX_ROWS)
    .optional()
    .describe(
      `Entries of a page: default ${QUERY_LIMITS.limitDefault} or the \`limit\` of the text, at most ${counted(QUERY_LIMITS.limit)}. Rows of a table: default and at most ${counted(MAX_ROWS)}.`,
    ),
};

export const asOfMember = z
  .string()
  .optional()
  .describe(
    "`asOf` of an earlier answer: only what was stored by then, and relative times count from the instant of that question.",
  );

type SearchMembers = z.output<z.ZodObject<typeof QUERY_MEMBERS>> & {
  asOf?: string | undefined;
  cursor?: string | undefined;
};

/** Body of `POST /logger/search`. */
export const SearchBody = z
  .strictObject({
    ...QUERY_MEMBERS,
    asOf: asOfMember,
    cursor: z
      .string()
      .optional()
      .describe("`nextCursor` of the page before. Everything else except `limit` must be the same."),
  })
  .transform(searchQueryOf);

/** Body of one query of a batch, which has neither a snapshot of its own nor pages. */
export const BatchQueryBody = z.strictObject(QUERY_MEMBERS).transform(searchQueryOf);

/** Returns the query of a body whose members are valid, and reports what they cannot express together. */
function searchQueryOf(body: SearchMembers, ctx: z.core.$RefinementCtx): SearchQuery {
  const refuse = (name: string, message: string) => ctx.addIssue({ code: "custom", path: [name], message });
  const { query, columns, hints } = body.query;
  const isTable = columns !== null;
  // Before the request is admitted, so that an invalid one counts.
  try {
    planSearch(query);
  } catch (error) {
    if (!(error instanceof InvalidQuery)) throw error;
    refuse("query", error.message);
  }
  const snapshot = body.asOf === undefined ? null : decodeSnapshot(body.asOf);
  if (body.asOf !== undefined && snapshot === null)
    refuse("asOf", "Invalid snapshot. Send asOf of an earlier response.");
  let cursor: Cursor | null = null;
  if (body.cursor !== undefined) {
    cursor = decodeCursor(body.cursor);
    if (isTable) refuse("cursor", "A table has no pages. Remove the cursor.");
    else if (cursor?.search === undefined) refuse("cursor", "Invalid cursor. Send nextCursor of the previous page.");
    else if (
      snapshot !== null &&
      (snapshot.commit !== cursor.asOf || (snapshot.instant ?? cursor.search.instant) !== cursor.search.instant)
    ) {
      refuse("asOf", "The cursor belongs to another snapshot.");
    }
  }
  if (!isTable && body.limit !== undefined && body.limit > QUERY_LIMITS.limit) {
    refuse("limit", `A page has at most ${QUERY_LIMITS.limit} entries.`);
  }
  const pipes =
    isTable && body.limit !== undefined ? [...query.pipes, { kind: "limit" as const, limit: body.limit }] : query.pipes;
  return {
    query: { ...query, pipes },
    now: cursor?.search?.instant ?? snapshot?.instant ?? Date.now(),
    projectId: body.projectId ?? null,
    from: body.from ?? null,
    to: body.to ?? null,
    asOf: snapshot?.commit ?? cursor?.asOf ?? null,
    limit: isTable ? QUERY_LIMITS.limit : (body.limit ?? pageOf(query)),
    cursor,
    hints,
  };
}

/** A page has as many entries as the text asks for, if a page can have so many. */
function pageOf({ pipes }: Query): number {
  const limits = pipes.flatMap((pipe) => (pipe.kind === "limit" ? [pipe.limit] : []));
  return limits.length === 0 ? QUERY_LIMITS.limitDefault : Math.min(QUERY_LIMITS.limit, ...limits);
}

const COMMON = {
  matched: z.int().describe("Entries that pass the filter, as far as they were read."),
  scanned: z.int().describe("Entries that were examined."),
  complete: z
    .boolean()
    .describe("False: a limit of work or memory ended the request, so that older entries are missing."),
  asOf: z
    .string()
    .describe(
      "What was read: the last commit, and the instant of the question. Opaque; send it back to ask the same again.",
    ),
  range: z
    .object({ from: z.iso.datetime().nullable(), to: z.iso.datetime().nullable() })
    .describe(
      "Times that were searched, by the text and the request: `from <= timestamp < to`. `null`: all up to the oldest or the newest entry.",
    ),
  notes: z
    .array(z.string())
    .describe("What to know about the answer, and about a text that probably means something else."),
  tookMs: z.int(),
};

/** Documents the answers of `POST /logger/search`. */
export const searchAnswerSchema = z.union([
  z
    .object({
      kind: z.literal("entries"),
      logs: z.array(storedEntrySchema),
      nextCursor: z
        .string()
        .nullable()
        .describe("Continues after this page in the same snapshot. `null` on the last page."),
      matches: z
        .array(z.int())
        .optional()
        .describe(
          "Of a query with `context`: the places in `logs`, from 0, of the entries that match; the others are neighbours.",
        ),
      exact: z.boolean().describe("False: more entries may match than `matched`, because the rest was not read."),
      ...COMMON,
    })
    .describe("Of a query without a pipe that makes a table."),
  tableAnswerSchema
    .extend({
      exact: z.boolean().describe("False: more entries may match than were read, or some values are approximate."),
      ...COMMON,
    })
    .describe("Of a query with `count`, `stats`, `top`, `rare`, `patterns`, `facets` or `fields`."),
]);

/** Body of `POST /logger/search/parse`. */
export const ParseBody = z.strictObject({ query: QueryText });

/** Documents the answer of `POST /logger/search/parse`. */
export const parseAnswerSchema = z.object({
  query: z
    .object({ filter: z.record(z.string(), z.unknown()), pipes: z.array(z.record(z.string(), z.unknown())) })
    .describe("The abstract syntax: plain data, each node with its `kind`."),
  text: z.string().describe("The query as the formatter writes it: one line for the filter and for each pipe."),
  columns: z
    .array(z.object({ name: z.string(), type: z.enum(["level", "time", "number", "any"]) }))
    .nullable()
    .describe("Columns of the table that the query makes; `null`: it finds entries."),
  hints: z
    .array(
      z.object({
        message: z.string(),
        position: z.int().describe("UTF-16 offset in the text."),
        ifNothing: z.boolean().describe("Whether the hint is of use only if nothing matches."),
        correction: z
          .string()
          .optional()
          .describe("An operator, `OR`, to be written in place of the word at `position`, which is as long."),
      }),
    )
    .describe("What the text probably does not do as intended, at most 5. They are `notes` of a search."),
});

/** Characters of a text for which suggestions are made. */
const MAX_TEXT = 8192;

/** Body of `POST /logger/search/suggest`. */
export const SuggestBody = z
  .strictObject({
    query: z.string().max(MAX_TEXT).describe("The text so far, which need not be a query yet."),
    position: z
      .int()
      .min(0)
      .optional()
      .describe("Where something is being written, in UTF-16 code units; default: the end."),
    from: timeSchema.optional().describe("Timestamp at or after this: ISO 8601 or epoch milliseconds."),
    to: timeSchema.optional().describe("Timestamp before this: ISO 8601 or epoch milliseconds."),
    projectId: z
      .string()
      .optional()
      .describe("With an access token, limits the request to one project. A key always reads its own project."),
  })
  .transform(
    ({ query, position = query.length, from, to, projectId }): SuggestQuery => ({
      completion: completionAt(query, Math.min(position, query.length)),
      projectId: projectId ?? null,
      from: from ?? null,
      to: to ?? null,
      now: Date.now(),
    }),
  );

/** Documents `SuggestAnswer`. */
export const suggestAnswerSchema = z.object({
  kind: z
    .enum(["filter", "value", "key", "pipe", "function", "keyword", "number", "duration", "name"])
    .describe("What is being written. `filter`: a field or a text. `key`: a field to group or sort by."),
  start: z.int().describe("An item replaces the text from here, in UTF-16 code units."),
  end: z.int().describe("To here."),
  items: z
    .array(
      z.object({
        text: z.string(),
        kind: z.enum(["field", "value", "operator", "function", "pipe", "keyword", "column"]),
        type: z.enum(["string", "number", "boolean", "null", "object", "any", "time", "level"]).optional(),
        count: z.int().optional().describe("Entries of the basis that have the field or the value."),
      }),
    )
    .describe(
      "The likeliest first: what begins with the text between `start` and the position, then what contains it.",
    ),
  basis: z.object({
    kind: z
      .enum(["sample", "newest", "counts", "none"])
      .describe(
        "`sample`: the newest entries that the rest of the query leaves, at most 500. `newest`: the newest entries, because the sample found none of those. `counts`: the stored counts of all of them. `none`: the items do not depend on entries.",
      ),
    entries: z.int().describe("Entries that were counted."),
    complete: z.boolean().describe("Whether these are all entries that the rest of the query leaves."),
    from: z.iso.datetime().optional().describe("Timestamp of the oldest entry of the sample."),
    to: z.iso.datetime().optional().describe("Timestamp of the newest entry of the sample."),
  }),
});
