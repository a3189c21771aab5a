import { refuse } from "../http/errors.ts";
import { streamedSuccess } from "../http/streamed-success.ts";
import { LeasedMemory } from "../logs/query/memory.ts";

const RETRY_SOON = { headers: { "Retry-After": "2" } } as const;

/**
 * Runs a read with the memory that it needs, and answers with what it made. Waits where other reads hold all there is.
 * @param rows that it may come to hold
 * @param read gives the JSON of its answer in parts; see `streamedSuccess`. They hold the memory until they are sent
 */
export async function withReadMemory(
  requestId: string,
  rows: number,
  read: (memory: LeasedMemory) => Promise<Iterator<string>>,
): Promise<Response> {
  const memory = await LeasedMemory.take(rows);
  if (memory === null) return refuse("SERVICE_UNAVAILABLE", "Too many logs are being read at once.", RETRY_SOON);
  try {
    const data = await read(memory);
    return streamedSuccess(data, requestId, { goesOn: () => memory.renew(), ended: () => memory.release() });
  } catch (error) {
    memory.release();
    throw error;
  }
}
