import { randomUUID } from "node:crypto";
import { z } from "zod";
import { bodyOf } from "../entries.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { sum } from "../stats.ts";
import { type BenchTenant, newTenant } from "../tenant.ts";

const BATCH = 50;
const BATCHES = 1000;
const HOUR_MS = 60 * 60 * 1000;
/** Hours until everything a batch leaves behind has expired: receipts after 24, counters after 1. */
const HOURS = 26;
/** Maximum number of consecutive housekeeping steps, far more than necessary. */
const MAX_STEPS = 200;

/** Rates of one sender. Slower ones cost more, because rows written once a second or a minute serve fewer batches. */
const PACES = [
  { name: "one after the other", betweenMs: 0 },
  { name: "one a second", betweenMs: 1000 },
  { name: "one every 5 s (the client library's default)", betweenMs: 5000 },
];

export interface RowsRow {
  pace: string;
  entries: number;
  /** Rows written for each entry, including later deletions. */
  rowsPerEntry: number;
  /** Rows written by table, with `(alarm)` for alarms set. */
  byTable: Record<string, number>;
  /** The problem; `null` if everything was stored and deleted. */
  wrong: string | null;
}

/**
 * Counts rows written by batches of 50 with an `Idempotency-Key`, sent by one client without concurrency, so that none
 * shares a commit: from the first batch to the day after, when receipts and counters were swept and the batches were
 * deleted. The service's clock is moved between batches, so a day takes seconds.
 */
export async function benchRows(workshop: Workshop, report: (row: RowsRow) => void): Promise<RowsRow[]> {
  const worker = await workshop.bundle("rows", "service");
  const rows: RowsRow[] = [];
  for (const { name, betweenMs } of PACES) {
    // A separate server for each, because the clock of the previous one is on a later day.
    const server = await workshop.startService(worker);
    const row = await countRows(server, name, betweenMs);
    await server.stop();
    rows.push(row);
    report(row);
  }
  return rows;
}

async function countRows(server: BenchServer, pace: string, betweenMs: number): Promise<RowsRow> {
  const tenant = await newTenant(server.url, 1);
  const project = tenant.projects[0]?.id ?? "";
  const object = `${server.url}/bench/${tenant.workspaceId}`;
  const before = await numbers(`${object}/rows`);
  const stored = await sendAll(server, tenant, betweenMs);
  const entries = BATCH * BATCHES;
  const left = await live(object, tenant.userId, project);
  const after = await numbers(`${object}/rows`);
  const byTable = Object.fromEntries(
    Object.entries(after)
      .map(([table, count]) => [table, (count - (before[table] ?? 0)) / entries] as const)
      .filter(([, count]) => count > 0),
  );
  const missing = stored !== entries ? `${stored} of ${entries} entries are stored` : null;
  const kept = left > 0 ? `${left} rows were never deleted` : null;
  return { pace, entries, rowsPerEntry: sum(Object.values(byTable)), byTable, wrong: missing ?? kept };
}

const receiptSchema = z.object({ data: z.object({ lastSeq: z.int() }) });

/** @returns the number of stored entries, by the last receipt: `seq` has no gap */
async function sendAll({ url }: BenchServer, tenant: BenchTenant, betweenMs: number): Promise<number> {
  let stored = 0;
  const [{ id, key } = { id: "", key: "" }] = tenant.projects;
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  for (let batch = 0; batch < BATCHES; batch++) {
    const own = { ...headers, "idempotency-key": randomUUID(), "x-bench-advance": String(batch === 0 ? 0 : betweenMs) };
    const body = bodyOf(BATCH, batch * BATCH).toString();
    const answer = await fetch(`${url}/logger/${id}/log`, { method: "POST", headers: own, body });
    const text = await answer.text();
    if (answer.status !== 201) throw new Error(`Batch ${batch} was answered ${answer.status}: ${text}`);
    stored = receiptSchema.parse(JSON.parse(text)).data.lastSeq;
  }
  return stored;
}

/** Lets a day pass in hours with their housekeeping, deletes the batches, and returns the rows that are left. */
async function live(object: string, userId: string, project: string): Promise<number> {
  for (let hour = 0; hour < HOURS; hour++) await numbers(`${object}/alarm`, HOUR_MS);
  await (await fetch(`${object}/remove/${userId}/${project}`)).text();
  let left = Number.NaN;
  for (let step = 0; step < MAX_STEPS && left !== 0; step++) {
    left = sum(Object.values(await numbers(`${object}/alarm`)));
  }
  return left;
}

async function numbers(url: string, advanceMs = 0): Promise<Record<string, number>> {
  const answer = await fetch(url, { headers: { "x-bench-advance": String(advanceMs) } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  // SAFETY: the bench's own worker returns numbers by name.
  return (await answer.json()) as Record<string, number>;
}
