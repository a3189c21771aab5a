import { ApiFailure, OFFLINE } from "../../../api/failure.ts";
import type { QueryPage } from "../query.ts";
import type { QueryRequest } from "./curl.ts";

/** Entries of one request: the largest page of the API. */
const PAGE = 1000;
/** Attempts of a request during an outage, and the pause between them. Waits for rate limits are not counted. */
const TRIES = 4;
const PAUSE_SECONDS = 2;

/** Destination of the lines, or of the bytes of a file. */
export interface Sink {
  write(data: string | Uint8Array<ArrayBuffer>): Promise<void>;
  /** Completes the file. */
  close(): Promise<void>;
  /** Deletes the incomplete file. */
  discard(): Promise<void>;
}

export interface Progress {
  entries: number;
  /** Seconds until the rate limit admits the next request; `null` while a request is in flight. */
  waiting: number | null;
}

interface DownloadOptions {
  request: QueryRequest;
  ask: (request: QueryRequest) => Promise<QueryPage>;
  sink: Sink;
  onProgress: (progress: Progress) => void;
  /** Rejects if the download is cancelled. */
  sleep: (seconds: number) => Promise<void>;
}

/**
 * Writes all entries that the query finds as NDJSON, page by page, from one snapshot: entries that arrive later are
 * left out.
 * @returns the number of entries written
 */
export async function download({ request, ask, sink, onProgress, sleep }: DownloadOptions): Promise<number> {
  let entries = 0;
  try {
    for (let cursor: string | null = null; ; ) {
      const pagination = { limit: PAGE, ...(cursor === null ? {} : { cursor }) };
      const page = await queryWithRetry({ ...request, pagination }, ask, sleep, (waiting) =>
        onProgress({ entries, waiting }),
      );
      entries += page.logs.length;
      await sink.write(page.logs.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
      onProgress({ entries, waiting: null });
      // A page that the service cut short has a cursor, too. The last page has none.
      cursor = page.pagination.nextCursor;
      if (cursor === null) break;
    }
  } catch (error) {
    await sink.discard();
    throw error;
  }
  await sink.close();
  return entries;
}

async function queryWithRetry(
  request: QueryRequest,
  ask: DownloadOptions["ask"],
  sleep: DownloadOptions["sleep"],
  onWait: (seconds: number) => void,
): Promise<QueryPage> {
  for (let tries = 1; ; ) {
    try {
      return await ask(request);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const isLimit = error.status === 429;
      const isPassing = error.status === 503 || error.code === OFFLINE;
      if (!isLimit && (!isPassing || tries++ >= TRIES)) throw error;
      const seconds = error.retryAfter ?? PAUSE_SECONDS;
      onWait(seconds);
      await sleep(seconds);
    }
  }
}
