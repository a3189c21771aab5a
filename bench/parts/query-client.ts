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

/** Runs one query to its end: continues a partial response whose budget ran out. */
export async function runQuery(url: string, query: BenchQuery): Promise<QueryRun> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  let requests = 0;
  const startedAt = performance.now();
  for (;;) {
    const answer = await fetch(`${url}/logger/query`, {
      method: "POST",
      headers: { "content-type": "application/json", ...query.headers },
      body: JSON.stringify({
        filters: query.filters,
        pagination: { limit: query.limit - rows.length, ...(cursor === null ? {} : { cursor }) },
      }),
    });
    const text = await answer.text();
    const tookMs = performance.now() - startedAt;
    requests++;
    if (answer.status !== 200) return { tookMs, requests, wrong: `${answer.status} ${text.slice(0, 300)}` };
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
