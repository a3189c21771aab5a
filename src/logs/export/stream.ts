import type { ReadMemory } from "../query/memory.ts";
import type { ExportMemory } from "./memory.ts";
import type { Export } from "./run-export.ts";

/** Bytes that are passed to the runtime at a time. */
const PART_BYTES = 64 * 1024;
/** Milliseconds without reading after which an export returns its memory, and between two renewals of what it holds. */
const TICK_MS = 5_000;
/**
 * Milliseconds without reading after which an export ends. A slow client seems to read nothing for a while: its response continues once
 * a third of what the system has buffered, up to 4 MB, was sent. That takes 130 s at 10 KB/s.
 */
const PATIENCE_MS = 600_000;

/** How a response ended: it was passed to the runtime, the export failed, the client does not read, or has disconnected. */
export type ExportOutcome = "ok" | "failed" | "stalled" | "canceled";

/**
 * Sends an export as its client reads it. While the client does not read, the export is suspended: it has returned its memory, and
 * takes it again once the bytes that are ready were sent, if there is more to read. A failure before the first byte is thrown; a
 * later one ends the connection, so that the client does not take the bytes for all.
 *
 * @param memory is released at the end
 * @param ended is called once, with the bytes that were sent
 */
export async function exportStream(
  running: Pick<Export, "bytes" | "heldBytes" | "isWritten" | "takeReady">,
  memory: ReadMemory & Pick<ExportMemory, "suspend" | "resume" | "release">,
  ended: (outcome: ExportOutcome, bytes: number) => void,
): Promise<ReadableStream<Uint8Array>> {
  let chunks = running.bytes(memory);
  let suspended: Promise<unknown> | null = null;
  const next = async (): Promise<IteratorResult<Uint8Array, unknown>> => {
    if (suspended !== null) {
      await suspended;
      const value = running.takeReady();
      if (value !== undefined) return { done: false, value };
      if (!running.isWritten && !(await memory.resume())) throw new Error("There is no memory to continue.");
      suspended = null;
      chunks = running.bytes(memory);
    }
    memory.renew();
    return chunks.next();
  };
  let current = await next().catch((error) => {
    memory.release();
    throw error;
  });
  /** Bytes of the current chunk that were sent. */
  let at = 0;
  let bytes = 0;
  let isEnded = false;
  let idle: ReturnType<typeof setInterval> | undefined;
  const end = (outcome: ExportOutcome) => {
    clearInterval(idle);
    memory.release();
    if (!isEnded) ended(outcome, bytes);
    isEnded = true;
  };
  const stop = (outcome: ExportOutcome) => {
    end(outcome);
    void chunks.return(undefined);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearInterval(idle);
        try {
          if (current.done !== true && at === current.value.length) {
            current = await next();
            at = 0;
          }
          if (isEnded) return;
          if (current.done === true) {
            controller.close();
            return end("ok");
          }
          const part = current.value.subarray(at, at + PART_BYTES);
          at += part.length;
          bytes += part.length;
          controller.enqueue(part);
        } catch {
          end("failed");
          return controller.error(new Error("The export has failed."));
        }
        let waited = 0;
        idle = setInterval(() => {
          waited += TICK_MS;
          memory.renew();
          if (suspended === null && current.done !== true) {
            suspended = chunks.return(undefined);
            memory.suspend(running.heldBytes + current.value.length);
          }
          if (waited < PATIENCE_MS) return;
          controller.error(new Error("The client does not read its response."));
          stop("stalled");
        }, TICK_MS);
      },
      cancel: () => stop("canceled"),
    },
    { highWaterMark: 0 },
  );
}
