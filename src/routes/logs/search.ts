import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { ApiError, type ErrorCode, type ErrorDetail, type Refusal, refuse, refuseFields } from "../../http/errors.ts";
import { type Resource, validated } from "../../http/resource.ts";
import { COUNTED } from "../../limits/state.ts";
import { type QueryBudget, SEARCH_BUDGET } from "../../logs/query/budget.ts";
import { toByteString } from "../../logs/query/case-folding.ts";
import { encodeAsOf } from "../../logs/query/cursor.ts";
import type { ReadMemory } from "../../logs/query/memory.ts";
import { BatchBody, BatchShares, batchAnswerSchema, MAX_QUERIES } from "../../logs/search/batch.ts";
import { SharedMemory } from "../../logs/search/entry-rows.ts";
import { runSearch } from "../../logs/search/run-search.ts";
import { openSnapshot, runSuggest, SAMPLE_ENTRIES, unknownMembers } from "../../logs/search/run-suggest.ts";
import {
  type SearchFailure,
  type SearchQuery,
  type SearchResult,
  type SearchSource,
  searchBytes,
  searchTexts,
} from "../../logs/search/search-query.ts";
import {
  BatchQueryBody,
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
        "An error names the place in the text: `details[0]` has `position`, `expected` and, if something is likely meant,",
        "`suggestion`, and the query with it as `corrected`.",
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
      path: "/logger/search/batch",
      operation: "workspace.searchBatch",
      tag: TAG,
      summary: "Run several searches at once",
      description: [
        `Runs up to ${MAX_QUERIES} queries on one snapshot, so that a board shows one moment. Counts as one request, and as one read of the`,
        "sandbox. The queries share the work and the bytes of one search: what a query does not use is left to the later ones.",
        "",
        "Answers are in the order of the queries. A query that cannot be answered has its own error and does not affect the others.",
        "Accepts the same credentials as a search.",
      ].join("\n"),
      security: "either",
      documentedBody: { "application/json": { schema: BatchBody, example: EXAMPLE.searchBatch } },
      headers: WORKSPACE_HEADER,
      status: 200,
      response: batchAnswerSchema,
      errors: ERRORS,
    },
    [],
    searchBatch,
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
    const { answer, work } = await answerOf(source, wanted, undefined, memory);
    const { kind, matched, scanned, complete, tookMs } = answer;
    Object.assign(c.get("log"), { kind, matched, scanned, work, tookMs, complete });
    return { data: searchTexts(answer), bytes: searchBytes(answer) };
  });
}

/** Answers a query, with notes on members that no entry has. A query that cannot be run ends the request with 400. */
async function answerOf(
  source: SearchSource,
  wanted: SearchQuery,
  budget: QueryBudget | undefined,
  memory: ReadMemory,
): Promise<Extract<SearchResult, { ok: true }>> {
  const result = await runSearch(source, wanted, budget, memory);
  if (!result.ok) return refuseFields([detailOf(result)]);
  const { answer } = result;
  const unknown = await unknownMembers(source, wanted, answer, memory);
  const work = Math.round(result.work + unknown.work);
  return { ok: true, answer: { ...answer, notes: [...answer.notes, ...unknown.notes] }, work };
}

async function searchBatch(c: Context<AppEnv>): Promise<Response> {
  const reader = await readerOf(c);
  const { queries, snapshot } = await readerBody(c, reader, BatchBody);
  // Admits the request, counts it once, and pins the commit of all queries.
  const pinned = await openSnapshot(searchSource(c, reader, null), snapshot?.commit ?? null);
  if (pinned.asOf > pinned.lastCommit) refuseFields([detailOf({ ok: false, reason: "future_snapshot" })]);
  const counted = { ...reader, charge: COUNTED };
  const common = { now: snapshot?.instant ?? Date.now(), asOf: pinned.asOf, isNewest: snapshot === null };
  return withReadMemory(c, TABLE_ROWS, async (memory) => {
    const shares = new BatchShares(SEARCH_BUDGET, queries.length);
    const log = { queries: queries.length, failed: 0, scanned: 0, work: 0, complete: true };
    const texts: string[] = [];
    let held = 0;
    for (const query of queries) {
      if (shares.isSpent) {
        log.failed++;
        texts.push(failed({ code: "SERVICE_UNAVAILABLE", message: BATCH_SPENT }), ",");
        continue;
      }
      try {
        const wanted = { ...validated(BatchQueryBody, query), ...common };
        const source = searchSource(c, counted, wanted.projectId);
        const { answer, work } = await answerOf(source, wanted, shares.next(), new SharedMemory(memory, held));
        const bytes = searchBytes(answer);
        shares.used(work, bytes);
        held += bytes;
        if (!memory.canHoldState(held)) return refuse("SERVICE_UNAVAILABLE", BATCH_TOO_LARGE);
        texts.push('{"ok":true,', ...withoutBrace(searchTexts(answer)));
        log.scanned += answer.scanned;
        log.work += work;
        log.complete &&= answer.complete;
      } catch (error) {
        // Faults of one query. All others, such as a limit or a database that does not answer, concern all queries.
        if (!(error instanceof ApiError) || !OWN_FAULTS.has(error.refusal.code)) throw error;
        shares.used(0, 0);
        log.failed++;
        texts.push(failed(error.refusal));
      }
      texts.push(",");
      memory.endPart();
    }
    texts.pop();
    Object.assign(c.get("log"), log);
    const asOf = encodeAsOf(common.asOf, common.now);
    const data = [`{"asOf":${JSON.stringify(asOf)},"answers":[`, ...texts, "]}"];
    return { data: data.values(), bytes: held };
  });
}

/** Codes of refusals that concern one query of a batch. */
const OWN_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["VALIDATION_ERROR", "NOT_FOUND"]);
const BATCH_SPENT = "The queries before this one have used up the work of the request. Send it alone.";
const BATCH_TOO_LARGE = "The answers of these queries need more memory than is free. Send fewer queries.";

function failed({ code, message, details = [] }: Refusal): string {
  return toByteString(JSON.stringify({ ok: false, error: { code, message, details } }));
}

/** Yields the texts of an object without its first brace. */
function* withoutBrace(texts: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const text of texts) {
    yield isFirst ? text.slice(1) : text;
    isFirst = false;
  }
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
