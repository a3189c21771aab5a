import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorDetail, refuseFields } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { toByteString } from "../../logs/query/case-folding.ts";
import { runSearch } from "../../logs/search/run-search.ts";
import { runSuggest, SAMPLE_ENTRIES, unknownMembers } from "../../logs/search/run-suggest.ts";
import { type SearchFailure, searchBytes, searchTexts } from "../../logs/search/search-query.ts";
import {
  ParseBody,
  parseAnswerSchema,
  SearchBody,
  SuggestBody,
  searchAnswerSchema,
  suggestAnswerSchema,
} from "../../logs/search/search-schema.ts";
import { format } from "../../query-language/print.ts";
import { EXAMPLE } from "../examples.ts";
import { publicLimit } from "../guards/address.ts";
import { readerBody, readerOf, searchSource, statsSource, withReadMemory } from "./reader.ts";

const TAG = "Search";
const WORKSPACE_HEADER = { "X-Workspace-Id": "Required with an access token: the workspace to read." };
const ERRORS = ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE"] as const;

export function addSearch(logger: Resource): void {
  logger.route(
    {
      method: "POST",
      path: "/logger/search",
      operation: "workspace.search",
      tag: TAG,
      summary: "Search with the query language",
      description: [
        "One text asks for entries (`level:>=error route:/api/* -category:cache`) or for a table (`... | stats count(), p99(ms) by",
        "route, bin(5m)`). `docs/query-language.md` is a tour with the grammar.",
        "",
        "`from` and `to` narrow the times of the text. With `asOf` of an earlier answer the same question has the same answer: relative",
        "times such as `time:1h` count from its instant.",
        "",
        "An error names the place in the text: `details[0]` has `position`, `expected` and, if something is likely meant, `suggestion`.",
        "Accepts an API key with `logs:read`, which reads its own project, or an access token with `X-Workspace-Id`.",
      ].join("\n"),
      security: "either",
      documentedBody: { "application/json": { schema: SearchBody, example: EXAMPLE.search } },
      headers: WORKSPACE_HEADER,
      status: 200,
      response: searchAnswerSchema,
      errors: ERRORS,
    },
    [],
    search,
  );
  logger.route(
    {
      method: "POST",
      path: "/logger/search/suggest",
      operation: "workspace.suggest",
      tag: TAG,
      summary: "Suggest how a query may continue",
      description: [
        "Fields by how often they occur in what the rest of the query leaves, values with counts, operators by type, functions, pipes.",
        `Bounded work: the newest ${SAMPLE_ENTRIES} entries, or stored counts. \`basis\` says which. Accepts the same credentials as a search.`,
      ].join("\n"),
      security: "either",
      documentedBody: { "application/json": { schema: SuggestBody, example: EXAMPLE.suggest } },
      headers: WORKSPACE_HEADER,
      status: 200,
      response: suggestAnswerSchema,
      errors: ERRORS,
    },
    [],
    suggest,
  );
  logger.route(
    {
      method: "POST",
      path: "/logger/search/parse",
      operation: "search.parse",
      tag: TAG,
      summary: "Parse a query",
      description:
        "Returns the abstract syntax of a query, its formatted text and its columns. Reads no logs, so it needs no credential; counts by client IP.",
      security: "none",
      body: ParseBody,
      example: EXAMPLE.parse,
      status: 200,
      response: parseAnswerSchema,
      errors: ["VALIDATION_ERROR"],
    },
    [publicLimit],
    (c, { body }) => {
      const { query, columns, hints } = body.query;
      return success({ query, text: format(query), columns, hints }, c.get("requestId"));
    },
  );
}

/** Memory that a table begins with, as rows of a query. */
const TABLE_ROWS = 2048;

async function search(c: Context<AppEnv>): Promise<Response> {
  const reader = await readerOf(c);
  const wanted = await readerBody(c, reader, SearchBody);
  const rows = Math.max(TABLE_ROWS, wanted.limit);
  const source = searchSource(c, reader, wanted.projectId);
  return withReadMemory(c, rows, async (memory) => {
    const result = await runSearch(source, wanted, undefined, memory);
    if (!result.ok) return refuseFields([detailOf(result)]);
    const { answer } = result;
    const unknown = await unknownMembers(source, wanted, answer, memory);
    const work = Math.round(result.work + unknown.work);
    const { kind, matched, scanned, complete, tookMs } = answer;
    Object.assign(c.get("log"), { kind, matched, scanned, work, tookMs, complete });
    const noted = { ...answer, notes: [...answer.notes, ...unknown.notes] };
    return { data: searchTexts(noted), bytes: searchBytes(noted) };
  });
}

function detailOf(failure: SearchFailure): ErrorDetail {
  switch (failure.reason) {
    case "foreign_cursor":
      return { path: "cursor", code: "custom", message: "The cursor belongs to another query or another project." };
    case "future_snapshot":
      return { path: "asOf", code: "custom", message: "The snapshot does not exist yet." };
    case "invalid_query":
      return { path: "query", code: "custom", message: failure.message };
  }
}

async function suggest(c: Context<AppEnv>): Promise<Response> {
  const reader = await readerOf(c);
  const wanted = await readerBody(c, reader, SuggestBody);
  const source = statsSource(c, reader, wanted.projectId);
  return withReadMemory(c, SAMPLE_ENTRIES, async (memory) => {
    const answer = await runSuggest(source, wanted, memory);
    Object.assign(c.get("log"), { kind: answer.kind, rows: answer.items.length, basis: answer.basis.kind });
    const text = toByteString(JSON.stringify(answer));
    return { data: [text].values(), bytes: text.length };
  });
}
