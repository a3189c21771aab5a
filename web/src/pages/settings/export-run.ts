import { ApiFailure, unreachable } from "../../api/failure.ts";
import { accessToken } from "../../session/session.ts";
import type { Sink } from "../explorer/actions/download.ts";
import { type ExportChoice, type Manifest, manifestOf } from "./export-choice.ts";

export interface ExportResult {
  bytes: number;
  /** `null` for Parquet, whose manifest is in the footer of the file. */
  manifest: Manifest | null;
}

interface ExportRun {
  workspaceId: string;
  projectId: string;
  choice: ExportChoice;
  sink: Sink;
  onProgress: (bytes: number) => void;
  signal: AbortSignal;
}

/** Bytes at the end of an export in which its manifest is: the last line. */
const TAIL_BYTES = 4096;

/**
 * Writes an export to a file as it arrives.
 * @throws ApiFailure if the service refuses it, or if the connection ends before the export; nothing is written then
 */
export async function runExport({ choice, sink, onProgress, signal, ...of }: ExportRun): Promise<ExportResult> {
  try {
    const response = await open(of.workspaceId, of.projectId, choice, signal);
    let bytes = 0;
    let tail = "";
    const decoder = new TextDecoder();
    for await (const chunk of chunksOf(response)) {
      await sink.write(chunk);
      bytes += chunk.length;
      if (choice.format === "ndjson") {
        tail = (tail + decoder.decode(chunk.subarray(-TAIL_BYTES), { stream: false })).slice(-TAIL_BYTES);
      }
      onProgress(bytes);
    }
    const manifest = choice.format === "ndjson" ? manifestOf(tail) : null;
    // A response that ended early lacks its last line.
    if (choice.format === "ndjson" && manifest === null) throw unreachable();
    await sink.close();
    return { bytes, manifest };
  } catch (error) {
    await sink.discard();
    throw error instanceof ApiFailure || signal.aborted ? error : unreachable();
  }
}

async function open(
  workspaceId: string,
  projectId: string,
  choice: ExportChoice,
  signal: AbortSignal,
): Promise<Response> {
  const query = new URLSearchParams({ format: choice.format });
  for (const end of ["from", "to"] as const) {
    if (choice[end] !== "") query.set(end, new Date(choice[end]).toISOString());
  }
  const response = await fetch(`/logger/${encodeURIComponent(projectId)}/export?${query}`, {
    headers: { Authorization: `Bearer ${await accessToken()}`, "X-Workspace-Id": workspaceId },
    cache: "no-store",
    signal,
  });
  if (response.ok) return response;
  const refusal: unknown = await response.json().catch(() => null);
  throw failureIn(refusal, response);
}

function failureIn(refusal: unknown, { status, headers }: Response): ApiFailure {
  // SAFETY: every member is tested.
  const error = (refusal as { error?: { code?: unknown; message?: unknown } } | null)?.error;
  const message = typeof error?.message === "string" ? error.message : `The service answered with status ${status}.`;
  const retryAfter = headers.get("Retry-After");
  return new ApiFailure(message, {
    code: typeof error?.code === "string" ? error.code : "UNEXPECTED",
    status,
    retryAfter: retryAfter === null ? null : Number(retryAfter),
  });
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
