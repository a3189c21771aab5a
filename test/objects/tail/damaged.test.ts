import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { encodeBody } from "../../../src/logs/batch.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { bearer, call } from "../accounts/support.ts";
import { AGED_MS, alarm, clock, sendBatches } from "../flush/support.ts";
import { evict, newTenant, onSql, type Tenant } from "../ingest/support.ts";
import { tailOf } from "./support.ts";

beforeAll(clock.start);
afterAll(clock.stop);

/** Stores entries 1 to 3, 4 to 7 and 8 to 9 in a batch each; the stored line of entry 5 is damaged. */
async function withDamagedLine(): Promise<Tenant> {
  const tenant = await newTenant();
  await sendBatches(tenant, 3, 4, 2);
  const lines = [4, 5, 6, 7].map((seq) =>
    JSON.stringify({
      timestamp: new Date().toISOString(),
      level: "info",
      category: "custom",
      type: "log",
      message: `m${seq - 1}`,
    }),
  );
  // Of the time of the others: a line that has expired is left out without a report.
  lines[1] = `{"timestamp":"${new Date().toISOString()}","level":"info","category":"cust\u0000`;
  const { encoding, body } = encodeBody(new TextEncoder().encode(lines.join("\n")));
  await onSql(tenant.workspaceId, (sql) => {
    sql.exec(
      "UPDATE batches SET encoding = ?, body = ?, body_bytes = ? WHERE commit_no = 2",
      encoding,
      body,
      body.length,
    );
  });
  await evict(tenant.workspaceId);
  return tenant;
}

/** Results of every kind of reader. */
async function readings(tenant: Tenant) {
  const { projectId, secret } = tenant;
  const headers = bearer(secret);
  const read = async (path: string, body?: object) => {
    const answer = await call(path, body === undefined ? { headers } : { headers, body });
    expect(answer.status).toBe(200);
    return JSON.parse(JSON.stringify(answer.data));
  };
  const seqsOf = (entries: { seq: number }[]) => entries.map(({ seq }) => seq);
  const query = await read("/logger/query", { order: "asc", filters: { category: "custom" } });
  const searched = await read("/logger/query", { order: "asc", filters: { search: "m" } });
  const around = await read(`/logger/${projectId}/log/${logId(projectId, 4)}?before=5&after=5`);
  const stats = await read("/logger/stats", { interval: "1d", groupBy: "level", filters: { search: "m" } });
  const tails = [];
  for (const more of ["", "&minLevel=info", "&search=m"]) {
    const client = await tailOf(tenant, { query: `?since=0${more}` });
    await client.until(({ caughtUp }) => caughtUp.length > 0);
    tails.push(client.seqs);
    client.close();
  }
  const lost = await call(`/logger/${projectId}/log/${logId(projectId, 5)}`, { headers });
  return {
    query: seqsOf(query.logs),
    searched: seqsOf(searched.logs),
    around: seqsOf([...around.before, around.entry, ...around.after]),
    counted: stats.total,
    tails,
    lost: lost.status,
  };
}

const all = [1, 2, 3, 4, 6, 7, 8, 9];
const WITHOUT_IT = { query: all, searched: all, around: all, counted: 8, tails: [all, all, all], lost: 404 };

it("a stored line that is not an entry is reported and affects no other entry, in either tier", async () => {
  const tenant = await withDamagedLine();
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  expect(await readings(tenant)).toEqual(WITHOUT_IT);
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
  const fault = `Stored lines of ${tenant.projectId} are not entries: 1, the first of them seq 5.`;
  const { workspaceId } = tenant;
  expect(lines).toContainEqual(
    expect.objectContaining({ event: "workspace.read", outcome: "unreadable", workspaceId, fault, unreadable: 1 }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({ event: "workspace.tail.read", outcome: "unreadable", workspaceId, fault, unreadable: 1 }),
  );
  clock.pass(AGED_MS);
  for (let turn = 0; turn < 4; turn++) await alarm(workspaceId);
  const aside = await onSql(workspaceId, (sql) => sql.exec("SELECT commit_no, reason FROM set_aside").toArray());
  expect(aside).toEqual([{ commit_no: 2, reason: "it cannot be read" }]);
  expect(await onSql(workspaceId, (sql) => sql.exec("SELECT commit_no FROM batches").toArray())).toHaveLength(1);
  expect(await readings(tenant)).toEqual(WITHOUT_IT);
});
