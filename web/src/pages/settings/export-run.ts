import { ApiFailure, UNEXPECTED, unreachable } from "../../api/failure.ts";
import { accessToken } from "../../session/session.ts";
import type { Sink } from "../explorer/actions/download.ts";
import type { Times } from "../explorer/view/range.ts";
import type { ExportChoice } from "./export-choice.ts";
import { type ExportEnd, ndjsonEnd, parquetEnd } from "./export-manifest.ts";

export interface ExportResult {
  bytes: number;
  end: ExportEnd;
}

/** Entries of an export, which the files of all its parts share. */
export interface Exported {
  workspaceId: string;
  projectId: string;
  format: ExportChoice["format"];
  times: Pick<Times, "from" | "to">;
}

interface ExportRun extends Exported {
  /** `seq` of the last entry that is not exported; 0 for all. */
  afterSeq: number;
  sink: Sink;
  onProgress: (bytes: number) => void;
  signal: AbortSignal;
}

/** Bytes at the end of an export in which its manifest is. The footer of the largest Parquet file is smaller. */
const TAIL_BYTES = { ndjson: 4096, parquet: 4 * 1024 * 1024 } as const;

/**
 * Writes an export to a file as it arrives.
 * @throws ApiFailure if the service refuses it, or if the connection ends before the export; nothing is written then
 */
export async function runExport(run: ExportRun): Promise<ExportResult> {
  const { format, sink, onProgress, signal } = run;
  try {
    const response = await open(run);
    let bytes = 0;
    const tail = new Tail(TAIL_BYTES[format]);
    for await (const chunk of chunksOf(response)) {
      await sink.write(chunk);
      bytes += chunk.length;
      tail.add(chunk);
      onProgress(bytes);
    }
    const end = (format === "ndjson" ? ndjsonEnd : parquetEnd)(tail.bytes());
    // A response that ended early lacks its manifest.
    if (end === null) throw unreachable();
    await sink.close();
    return { bytes, end };
  } catch (error) {
    await sink.discard();
    throw error instanceof ApiFailure || signal.aborted ? error : unreachable();
  }
}

/** At least the last bytes of a stream. */
class Tail {
  readonly #least: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(least: number) {
    this.#least = least;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (let first = this.#chunks[0]; first && this.#size - first.length >= this.#least; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#size -= first.length;
    }
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }
}

async function open({ workspaceId, projectId, format, times, afterSeq, signal }: ExportRun): Promise<Response> {
  const query = new URLSearchParams({ format });
  const { from, to } = times;
  if (from !== undefined) query.set("from", from);
  if (to !== undefined) query.set("to", to);
  if (afterSeq > 0) query.set("afterSeq", String(afterSeq));
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
    code: typeof error?.code === "string" ? error.code : UNEXPECTED,
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
