import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import { integerParameter } from "../../http/paging.ts";
import { type Resource, validated } from "../../http/resource.ts";
import { storedEntrySchema } from "../../logs/entry-view.ts";
import { ExportMemory } from "../../logs/export/memory.ts";
import { Export, type ExportRequest } from "../../logs/export/run-export.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../logs/export/writer.ts";
import { timeParameter } from "../../logs/ingest/timestamp.ts";
import { logEvent } from "../../platform/log.ts";
import { settingsOf } from "../../settings.ts";
import { EXAMPLE } from "../examples.ts";
import { bySeq, countIfReadRefused, readerOf, reportUnreadable } from "./reader.ts";

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
        "`afterSeq` is `through` of the manifest then.",
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
  return new Response(await streamOf(c, opened, memory), { headers });
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

/** Bytes that a client must read within `PATIENCE_MS`. */
const PART_BYTES = 64 * 1024;
/**
 * Milliseconds in which a client must read a part, because an export holds memory that others wait for. A slow client seems to read nothing
 * for a while: its system asks for more only once a third of what it has buffered, up to 2 MB, is read.
 */
const PATIENCE_MS = 60_000;
/** Milliseconds between two renewals of the memory meanwhile. */
const RENEWAL_MS = 10_000;

/**
 * Sends an export as its client reads it. A failure before the first byte ends the request with its error; a later one ends
 * the connection, so that the client does not take the bytes for all.
 */
async function streamOf(
  c: Context<AppEnv>,
  running: Export,
  memory: ExportMemory,
): Promise<ReadableStream<Uint8Array>> {
  const chunks = running.bytes(memory);
  const next = async () => {
    memory.renew();
    try {
      return await chunks.next();
    } catch (error) {
      memory.release();
      throw error;
    }
  };
  let current = await next();
  /** Bytes of the current chunk that were sent. */
  let at = 0;
  const end = endOf(c, running, memory);
  let bytes = 0;
  let stalled: ReturnType<typeof setInterval> | undefined;
  const stop = (outcome: string) => {
    clearInterval(stalled);
    end(outcome, bytes);
    void chunks.return(undefined);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearInterval(stalled);
        try {
          if (current.done !== true && at === current.value.length) {
            current = await next();
            at = 0;
          }
          if (current.done === true) {
            controller.close();
            return end("ok", bytes);
          }
          const part = current.value.subarray(at, at + PART_BYTES);
          at += part.length;
          bytes += part.length;
          controller.enqueue(part);
        } catch {
          end("failed", bytes);
          return controller.error(new Error("The export has failed."));
        }
        let waited = 0;
        stalled = setInterval(() => {
          waited += RENEWAL_MS;
          if (waited < PATIENCE_MS) return memory.renew();
          controller.error(new Error("The client does not read its response."));
          stop("stalled");
        }, RENEWAL_MS);
      },
      cancel: () => stop("canceled"),
    },
    { highWaterMark: 0 },
  );
}

/** Returns a function that logs the end of an export, once, and releases its memory. */
function endOf(c: Context<AppEnv>, running: Export, memory: ExportMemory): (outcome: string, bytes: number) => void {
  const startedAt = Date.now();
  let isEnded = false;
  return (outcome, bytes) => {
    memory.release();
    if (isEnded) return;
    isEnded = true;
    const { projectId = null, workspaceId = null, fault = null, unreadable = 0 } = c.get("log");
    const whose = { requestId: c.get("requestId"), workspaceId, projectId };
    const { count: rows, isComplete: complete } = running;
    const figures = { rows, bytes, unreadable, complete, durationMs: Date.now() - startedAt };
    const line = { event: "workspace.export.end", outcome, ...whose, ...figures, ...(fault === null ? {} : { fault }) };
    logEvent(settingsOf(c.env).LOG_LEVEL, outcome === "failed" ? "error" : "info", line);
  };
}
