import { z } from "zod";
import type { BenchQuery, Row } from "./queries.ts";

const answerSchema = z.object({
  data: z.object({
    logs: z.array(z.object({ projectId: z.string(), seq: z.int() })),
    pagination: z.object({ nextCursor: z.string().nullable() }),
    complete: z.boolean(),
  }),
});

/** One complete run of a query. */
export interface QueryRun {
  /** From the first request to the last byte of the last response. */
  tookMs: number;
  requests: number;
  /** `null` if the response had exactly the right rows in the right order. */
  wrong: string | null;
}

/**
 * Sends one request to an endpoint that reads logs.
 * @returns the text of its response and the time up to its last byte, or a wrong run if the status is not 200
 */
export async function timedRead(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: unknown },
): Promise<{ text: string; tookMs: number; failed: QueryRun | null }> {
  const startedAt = performance.now();
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const tookMs = performance.now() - startedAt;
  const wrong = `${answer.status} ${text.slice(0, 300)}`;
  return { text, tookMs, failed: answer.status === 200 ? null : { tookMs, requests: 1, wrong } };
}

/** Runs one query to its end: continues a partial response whose budget ran out. */
export async function runQuery(url: string, query: BenchQuery): Promise<QueryRun> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  let requests = 0;
  const startedAt = performance.now();
  for (;;) {
    const body = {
      filters: query.filters,
      pagination: { limit: query.limit - rows.length, ...(cursor === null ? {} : { cursor }) },
    };
    const { text, failed } = await timedRead(`${url}/logger/query`, { headers: query.headers, body });
    const tookMs = performance.now() - startedAt;
    requests++;
    if (failed) return { ...failed, tookMs, requests };
    const { data } = answerSchema.parse(JSON.parse(text));
    rows.push(...data.logs);
    cursor = data.pagination.nextCursor;
    if (data.complete || cursor === null || rows.length >= query.limit)
      return { tookMs, requests, wrong: difference(rows, query.expected) };
  }
}

function difference(found: readonly Row[], expected: readonly Row[]): string | null {
  if (found.length !== expected.length) return `${found.length} rows instead of ${expected.length}`;
  const at = expected.findIndex(
    (row, index) => row.projectId !== found[index]?.projectId || row.seq !== found[index]?.seq,
  );
  return at < 0 ? null : `row ${at} is seq ${found[at]?.seq} instead of ${expected[at]?.seq}`;
}
