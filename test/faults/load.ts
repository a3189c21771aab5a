import { type Answer, call, type FoundLogs, type Tenant } from "../support/api.ts";
import type { Random } from "./random.ts";

export interface Receipt {
  accepted: number;
  rejectedCount: number;
  firstSeq: number;
  lastSeq: number;
  duplicate: boolean;
}

/** One batch and all that is known of its fate. */
export interface SentBatch {
  tenant: Tenant;
  idempotencyKey: string;
  body: string;
  /** The messages of its good entries, each unlike any other of the run. */
  messages: string[];
  /** Null while no answer has come. */
  receipt: Receipt | null;
}

export function makeBatch(random: Random, tenant: Tenant, name: string): SentBatch {
  const messages = Array.from(
    { length: random.oneIn(10) ? random.int(200, 600) : random.int(1, 40) },
    (_, i) => `${name}.${i}`,
  );
  const padding = "x".repeat(random.oneIn(4) ? random.int(0, 2000) : 20);
  const entries: object[] = messages.map((message, i) => ({
    message,
    level: i % 5 === 0 ? "error" : "info",
    data: { i, padding },
  }));
  // A bad entry here and there: the receipt must repeat it, and `seq` must not count it.
  if (random.oneIn(3)) entries.splice(random.int(0, entries.length), 0, { message: "" });
  return { tenant, idempotencyKey: name, body: JSON.stringify(entries), messages, receipt: null };
}

/** Sends a batch. @throws where the connection breaks; the batch may have been stored or not */
export async function sendBatch(url: string, batch: SentBatch): Promise<Receipt> {
  const { tenant, idempotencyKey, body } = batch;
  const headers = { "Idempotency-Key": idempotencyKey };
  const answer = await call<Receipt>(url, `/logger/${tenant.projectId}/log`, {
    token: tenant.key.secret,
    body,
    headers,
  });
  if (answer.status !== 201) throw new Error(`Ingest answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

export interface FoundEntry {
  seq: number;
  message: string;
}

/** Everything that a project holds, by cursor, page after page. */
export async function readAll(url: string, tenant: Tenant): Promise<FoundEntry[]> {
  const found: FoundEntry[] = [];
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const pagination: Record<string, unknown> = { limit: 1000, ...(cursor === null ? {} : { cursor }) };
    const query = { token: tenant.key.secret, body: { order: "asc", pagination } };
    const answer: Answer<FoundLogs> = await call(url, "/logger/query", query);
    if (answer.status !== 200) throw new Error(`The query answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    const { logs, pagination: page } = answer.body.data;
    found.push(...logs.map(({ seq, message }) => ({ seq, message })));
    cursor = page.nextCursor;
  }
  return found;
}
