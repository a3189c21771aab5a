import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import { integerParameter } from "../../http/paging.ts";
import { type Resource, validated } from "../../http/resource.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { missingEntries } from "../../logs/cold/store/missing-ranges.ts";
import { storedEntrySchema } from "../../logs/entry-view.ts";
import type { SeqRange } from "../../logs/export/line-lists.ts";
import { ExportMemory } from "../../logs/export/memory.ts";
import { Export, type ExportRequest } from "../../logs/export/run-export.ts";
import { type ExportOutcome, exportStream } from "../../logs/export/stream.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../logs/export/writer.ts";
import { timeParameter } from "../../logs/ingest/timestamp.ts";
import { logEvent } from "../../platform/log.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { settingsOf } from "../../settings.ts";
import { EXAMPLE } from "../examples.ts";
import { bySeq, countIfReadRefused, orUnavailable, readerOf, reportUnreadable } from "./reader.ts";

const ExportParameters = z.strictObject({
  format: z.enum(EXPORT_FORMATS).optional().describe("`ndjson` (default): an entry a line. `parquet`: a Parquet file."),
  from: timeParameter.optional().describe("Timestamp at or after this: ISO 8601 or epoch milliseconds."),
  to: timeParameter.optional().describe("Timestamp before this: ISO 8601 or epoch milliseconds."),
  afterSeq: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      "Only entries after this `seq`. Continues an export: `through` of its manifest, or the last `seq` received.",
    ),
});

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
};

export function addExport(logger: Resource): void {
  logger.route(
    {
      method: "GET",
      path: "/logger/:projectId/export",
      operation: "workspace.export",
      tag: "Logs",
      summary: "Export a project's log entries",
      description: [
        "Streams the entries of both tiers in ascending order of `seq`: everything that was committed when the request was",
        "admitted, and is not expired.",
        "",
        'NDJSON: each line is an entry as queries return it, the last line `{"manifest":{...}}` with the number of entries, their',
        "first and last `seq`, and the SHA-256 of all bytes before it. A response without that line is not complete: request the",
        'rest with `afterSeq`. A response also ends with `"complete":false` when it has used up the work of one request;',
        "`through` of the manifest is less than `until` then, and `afterSeq` of the request that continues. It is also `false`",
        "if the service has lost entries, `missing` of them.",
        "",
        "Parquet: a file with the columns of a segment file. The manifest is the property `taffrail.manifest` of its metadata; its",
        "SHA-256 is of all bytes before the footer.",
        "",
        "Accepts the same credentials as a query, and counts as one. With `If-None-Match`, 304 without a body if nothing has",
        "changed. Without a `from` within the retention the `ETag` changes each minute, because entries may expire.",
      ].join("\n"),
      security: "either",
      documentedQuery: ExportParameters,
      headers: { "X-Workspace-Id": "Required with an access token: the workspace of the project." },
      status: 200,
      documentedResponse: {
        [MEDIA_TYPES.ndjson]: {
          schema: z
            .string()
            .describe(`One entry per line (${Object.keys(storedEntrySchema.shape).join(", ")}), then the manifest.`),
          example: EXAMPLE.exported,
        },
        [MEDIA_TYPES.parquet]: {
          schema: z.string().describe("The bytes of a Parquet file."),
          example: "PAR1...PAR1",
        },
      },
      errors: ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE"],
    },
    [],
    exportLogs,
  );
}

async function exportLogs(c: Context<AppEnv>): Promise<Response> {
  const projectId = c.req.param("projectId") ?? "";
  const reader = await readerOf(c);
  const request = await countIfReadRefused(c, reader, projectId, (): ExportRequest => {
    const { format = "ndjson", from, to, afterSeq = 0 } = validated(ExportParameters, c.req.query(), "query");
    return { format, from: from ?? null, to: to ?? null, afterSeq };
  });
  const { workspaceId } = reader;
  const source = {
    workspaceId,
    projectId,
    ...bySeq(c, reader, projectId),
    report: reportUnreadable(c, workspaceId),
    missing: (range: SeqRange, renew: () => void) => missingOf(c, workspaceId, projectId, range, renew),
  };
  const opened = await Export.open(source, request);
  if (opened === null) {
    return refuseFields([
      { path: "query.afterSeq", code: "custom", message: "The project has no entry with this seq yet." },
    ]);
  }
  const headers = headersOf(projectId, request, opened);
  if (isUnchanged(c.req.header("If-None-Match"), headers.ETag)) return new Response(null, { status: 304, headers });
  if (c.req.method === "HEAD") return new Response(null, { headers });
  const memory = await ExportMemory.take(request.format);
  if (memory === null)
    return refuse("SERVICE_UNAVAILABLE", "Too many exports at once.", { headers: { "Retry-After": "5" } });
  return new Response(await exportStream(opened, memory, endOf(c, opened)), { headers });
}

/** Ranges in a page of records. */
const RECORDS = 1000;

function missingOf(
  c: Context<AppEnv>,
  workspaceId: string,
  projectId: string,
  range: SeqRange,
  renew: () => void,
): Promise<number> {
  const records = (after: number) => {
    renew();
    return callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.flushedRanges(projectId, after, RECORDS));
  };
  return orUnavailable(c, missingEntries(new ColdTier(c.env), workspaceId, projectId, records, range));
}

function headersOf(projectId: string, { format, from, to, afterSeq }: ExportRequest, { until, times }: Export) {
  // Weak: the same entries in other row groups or responses of another length are equal enough.
  const facts = JSON.stringify([projectId, format, times.from, from, to, afterSeq, until]);
  const hash = createHash("sha256").update(facts).digest("base64url").slice(0, 22);
  const name = afterSeq === 0 ? projectId : `${projectId}-after-${afterSeq}`;
  return {
    "Content-Type": MEDIA_TYPES[format],
    "Content-Disposition": `attachment; filename="${name}.${format}"`,
    "Cache-Control": "private, no-cache",
    ETag: `W/"${hash}"`,
  };
}

/** Compares as RFC 9110 requires for `If-None-Match`: without regard to weakness. `*` stands for any export. */
function isUnchanged(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const opaque = tag.replace(/^W\//, "");
  return header.split(",").some((each) => each.trim().replace(/^W\//, "") === opaque);
}

/** Returns a function that logs the end of an export. */
function endOf(c: Context<AppEnv>, running: Export): (outcome: ExportOutcome, bytes: number) => void {
  const startedAt = Date.now();
  return (outcome, bytes) => {
    const { projectId = null, workspaceId = null, fault = null, unreadable = 0 } = c.get("log");
    const whose = { requestId: c.get("requestId"), workspaceId, projectId };
    const { count: rows, isComplete: complete } = running;
    const figures = { rows, bytes, unreadable, complete, durationMs: Date.now() - startedAt };
    const line = { event: "workspace.export.end", outcome, ...whose, ...figures, ...(fault === null ? {} : { fault }) };
    logEvent(settingsOf(c.env).LOG_LEVEL, outcome === "failed" ? "error" : "info", line);
  };
}
