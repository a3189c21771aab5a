import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { integerParameter } from "../../http/paging.ts";
import { type Resource, validated } from "../../http/resource.ts";
import { parseLogId, storedEntrySchema } from "../../logs/entry-view.ts";
import { CONTEXT_LIMITS, contextBytes, contextTexts, readContext, type SeqSource } from "../../tail/context.ts";
import { bySeq, countIfReadRefused, type Reader, readerOf, reportUnreadable, withReadMemory } from "./reader.ts";

const neighbours = integerParameter(0, CONTEXT_LIMITS.neighbours);

const ContextParameters = z.strictObject({
  before: neighbours.optional().describe(`Entries before it, by \`seq\`: 0 (default) to ${CONTEXT_LIMITS.neighbours}.`),
  after: neighbours.optional().describe(`Entries after it, by \`seq\`: 0 (default) to ${CONTEXT_LIMITS.neighbours}.`),
});

export function addContext(logger: Resource): void {
  logger.route(
    {
      method: "GET",
      path: "/logger/:projectId/log/:logId",
      operation: "workspace.context",
      tag: "Logs",
      summary: "Get one entry and its neighbours",
      description: [
        "`before` and `after` are in ascending order of `seq`. Expired entries are excluded, so there may be fewer",
        "than requested. Accepts the same credentials as a query.",
      ].join("\n"),
      security: "either",
      documentedQuery: ContextParameters,
      headers: { "X-Workspace-Id": "Required with an access token: the workspace of the project." },
      status: 200,
      response: z.object({
        entry: storedEntrySchema,
        before: z.array(storedEntrySchema),
        after: z.array(storedEntrySchema),
        complete: z
          .boolean()
          .describe("`false` if the neighbours are too large for one response and the farthest are missing."),
      }),
      errors: ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE"],
    },
    [],
    context,
  );
}

/** Memory of the found entries and of the batches around them, as rows of a query. */
const CONTEXT_ROWS = 10_240;

async function context(c: Context<AppEnv>): Promise<Response> {
  const projectId = c.req.param("projectId") ?? "";
  const reader = await readerOf(c);
  const { before, after, seq } = await countIfReadRefused(c, reader, projectId, () => {
    const { before = 0, after = 0 } = validated(ContextParameters, c.req.query(), "query");
    const id = parseLogId(c.req.param("logId") ?? "");
    if (id?.projectId !== projectId) return refuse("NOT_FOUND", "Entry not found.");
    return { before, after, seq: id.seq };
  });
  return withReadMemory(c, CONTEXT_ROWS, async (memory) => {
    const source = seqSource(c, reader, projectId);
    const recent: SeqSource["recent"] = (range) => {
      memory.renew();
      return source.recent(range);
    };
    const found = await readContext({ ...source, recent }, { seq, before, after });
    if (found === null) return refuse("NOT_FOUND", "Entry not found.");
    return { data: contextTexts(found), bytes: contextBytes(found) };
  });
}

/** Reads both tiers by `seq`. */
function seqSource(c: Context<AppEnv>, reader: Reader, projectId: string): SeqSource {
  const { workspaceId } = reader;
  return {
    scope: { workspaceId, projectId, report: reportUnreadable(c, workspaceId) },
    ...bySeq(c, reader, projectId),
  };
}
