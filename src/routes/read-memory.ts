import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { streamedSuccess } from "../http/streamed-success.ts";
import { LeasedMemory } from "../logs/query/memory.ts";

const RETRY_SOON = { headers: { "Retry-After": "2" } } as const;

/** The JSON of an answer's data in parts (see `streamedSuccess`), and the bytes that they hold until they are sent. */
export interface ReadAnswer {
  data: Iterator<string>;
  bytes: number;
}

/**
 * Runs a read with the memory that it needs, and answers with what it made. Waits where other reads hold all there is.
 * @param rows that it may come to hold
 */
export function withReadMemory(
  c: Context<AppEnv>,
  rows: number,
  read: (memory: LeasedMemory) => Promise<ReadAnswer>,
): Promise<Response> {
  const answer = answerOf(c.get("requestId"), rows, read);
  // A client that disconnects would end the request in the middle, and what it holds would be held for a minute.
  c.executionCtx.waitUntil(answer.catch(() => undefined));
  return answer;
}

async function answerOf(
  requestId: string,
  rows: number,
  read: (memory: LeasedMemory) => Promise<ReadAnswer>,
): Promise<Response> {
  const memory = await LeasedMemory.take(rows);
  if (memory === null) return refuse("SERVICE_UNAVAILABLE", "Too many logs are being read at once.", RETRY_SOON);
  try {
    const { data, bytes } = await read(memory);
    memory.keep(bytes);
    return streamedSuccess(data, requestId, { onProgress: () => memory.renew(), ended: () => memory.release() });
  } catch (error) {
    memory.release();
    throw error;
  }
}
