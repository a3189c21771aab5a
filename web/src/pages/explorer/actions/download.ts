import { ApiFailure, OFFLINE } from "../../../api/failure.ts";
import type { QueryPage } from "../query.ts";
import type { QueryRequest } from "./curl.ts";

/** Entries of one request: as many as the API gives at once. */
const PAGE = 1000;
/** Times that a request is sent again where nothing answers, and the pause before. Limits are waited for as often as it takes. */
const TRIES = 4;
const PAUSE_SECONDS = 2;

/** Where the lines go. */
export interface Sink {
  write(text: string): Promise<void>;
  /** Everything is written: the file is there from now on. */
  close(): Promise<void>;
  /** Leaves no file behind. */
  discard(): Promise<void>;
}

export interface Progress {
  entries: number;
  /** Seconds to wait until the limit lets the next request through; null while it works. */
  waiting: number | null;
}

interface DownloadOptions {
  request: QueryRequest;
  ask: (request: QueryRequest) => Promise<QueryPage>;
  sink: Sink;
  onProgress: (progress: Progress) => void;
  /** Rejects when the download is given up. */
  sleep: (seconds: number) => Promise<void>;
}

/**
 * Writes everything that the query finds as NDJSON, page by page, all of one snapshot: what arrives meanwhile is in none
 * of them. @returns how many entries it wrote
 */
export async function download({ request, ask, sink, onProgress, sleep }: DownloadOptions): Promise<number> {
  let entries = 0;
  try {
    for (let cursor: string | null = null; ; ) {
      const pagination = { limit: PAGE, ...(cursor === null ? {} : { cursor }) };
      const page = await patiently({ ...request, pagination }, ask, sleep, (waiting) =>
        onProgress({ entries, waiting }),
      );
      entries += page.logs.length;
      await sink.write(page.logs.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
      onProgress({ entries, waiting: null });
      // A page that the service cut short has a cursor, too: only without one it is the end.
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

async function patiently(
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
