import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { TAIL_CLOSING_MS, TAIL_STALL_MS } from "../../../src/tail/limits.ts";
import { bearer, call } from "../accounts/support.ts";
import {
  addKey,
  addProject,
  evict,
  newTenant,
  numbered,
  onSql,
  receiptOf,
  send,
  type Tenant,
  workspace,
} from "../ingest/support.ts";
import { type Client, range, tailOf, tailResponse } from "./support.ts";

/** Sends `count` batches of `size` entries. */
async function fill(tenant: Tenant, count: number, size: number): Promise<void> {
  for (let batch = 0; batch < count; batch++) receiptOf(await send(tenant, numbered(size, batch * size)));
}

const caughtUp = (client: Client) => client.until((each) => each.caughtUp.length > 0, "caught-up");

describe("a tail", () => {
  it("reports its start position, and delivers entries committed from then on", async () => {
    const tenant = await newTenant();
    receiptOf(await send(tenant, numbered(3)));
    const client = await tailOf(tenant);
    receiptOf(await send(tenant, numbered(2, 3)));
    await client.has(2);
    expect(client.frames[0]).toEqual({ type: "caught-up", seq: 3 });
    expect(client.messages).toEqual(["m3", "m4"]);
    client.close();
  });

  it("delivers entries as a query returns them", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    const odd = {
      message: 'naïve "quotes"\n\u2028 😀',
      level: "warn",
      session: "s",
      data: { "a.b": [1, { c: null }] },
    };
    receiptOf(await send(tenant, odd));
    await client.has(1);
    const headers = { Authorization: `Bearer ${tenant.secret}` };
    const { data } = await call("/logger/query", { body: {}, headers });
    expect({ logs: client.entries }).toEqual({ logs: (data as { logs: unknown[] }).logs });
    client.close();
  });

  it("continues across evictions of its object without a message", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    for (let round = 0; round < 5; round++) {
      await evict(tenant.workspaceId);
      receiptOf(await send(tenant, numbered(2, round * 2)));
      await client.has(round * 2 + 2);
    }
    expect(client.seqs).toEqual(range(1, 10));
    expect(client.caughtUp).toEqual([0]);
    client.close();
  });

  it("gets entries that were committed and not delivered when its object left memory", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    receiptOf(await send(tenant, numbered(2)));
    await client.has(2);
    // As if the object had ended between commit and delivery: a stored batch that no tail has received.
    await onSql(tenant.workspaceId, (sql) => {
      sql.exec(
        `INSERT INTO batches (commit_no, project, first_seq, count, min_ts, max_ts, received_at, level_mask,
           category_mask, encoding, size, body_bytes, parts, summary, body)
         SELECT commit_no + 1, project, 3, count, min_ts, max_ts, received_at, level_mask, category_mask, encoding, size,
           body_bytes, parts, summary, body FROM batches`,
      );
      sql.exec("UPDATE projects SET last_seq = 4");
    });
    await evict(tenant.workspaceId);
    await onSql(tenant.workspaceId, () => {});
    await client.has(4);
    receiptOf(await send(tenant, numbered(1)));
    await client.has(5);
    expect(client.seqs).toEqual([1, 2, 3, 4, 5]);
    client.close();
  });

  it("continues right after `since`, over many batches and beside another project's", async () => {
    const tenant = await newTenant();
    const projectId = await addProject(tenant);
    const other = { ...tenant, projectId, ...(await addKey({ ...tenant, projectId })) };
    for (let round = 0; round < 20; round++) {
      receiptOf(await send(tenant, numbered(100, round * 100)));
      receiptOf(await send(other, [{ message: "not theirs" }]));
    }
    const client = await tailOf(tenant, { query: "?since=250" });
    await caughtUp(client);
    expect(client.seqs).toEqual(range(251, 2000));
    expect(client.messages).toEqual(range(250, 1999).map((n) => `m${n}`));
    expect(client.caughtUp).toEqual([2000]);
    client.close();
  });

  it("delivers each entry once while it reads its backlog and new entries arrive", async () => {
    const tenant = await newTenant();
    await fill(tenant, 30, 200);
    const clients = await Promise.all([0, 0, 1234, 5999].map((since) => tailOf(tenant, { query: `?since=${since}` })));
    for (let batch = 0; batch < 30; batch++) {
      receiptOf(await send(tenant, numbered(100)));
      if (batch % 10 === 5) await evict(tenant.workspaceId);
    }
    for (const [index, client] of clients.entries()) {
      const since = [0, 0, 1234, 5999][index] ?? 0;
      await client.has(9000 - since);
      expect(client.seqs).toEqual(range(since + 1, 9000));
      client.close();
    }
  });

  it("delivers each entry once across repeated disconnects", async () => {
    const tenant = await newTenant();
    const seen: number[] = [];
    const sending = fill(tenant, 60, 50);
    while (seen.length < 3000) {
      const client = await tailOf(tenant, { query: `?since=${seen.at(-1) ?? 0}` });
      await client.has(1);
      client.close();
      seen.push(...client.seqs);
    }
    await sending;
    expect(seen).toEqual(range(1, 3000));
  });

  it("delivers the entries that pass its filters, for each filter", async () => {
    const tenant = await newTenant();
    const levels = ["debug", "info", "warn", "error"] as const;
    const entries = range(0, 399).map((n) => ({
      message: `Entry ${n}${n % 50 === 0 ? " Needle" : ""}`,
      level: levels[n % 4],
      category: n % 3 === 0 ? "http" : "own",
      type: n % 3 === 0 ? (n % 2 === 0 ? "request" : "response") : `t${n % 7}`,
      session: `s${n % 5}`,
      traceId: `t${n % 9}`,
    }));
    const filters: [string, (n: number) => boolean][] = [
      ["", () => true],
      ["level=warn", (n) => n % 4 === 2],
      ["level=warn&level=debug", (n) => n % 2 === 0],
      ["level=debug&level=warn", (n) => n % 2 === 0],
      ["minLevel=warn", (n) => n % 4 >= 2],
      ["category=http&type=response", (n) => n % 3 === 0 && n % 2 === 1],
      ["type=t1&type=t2", (n) => n % 3 !== 0 && (n % 7 === 1 || n % 7 === 2)],
      ["session=s3&traceId=t2", (n) => n % 5 === 3 && n % 9 === 2],
      ["search=needle", (n) => n % 50 === 0],
      ["search=nothing", () => false],
    ];
    receiptOf(await send(tenant, entries.slice(0, 100)));
    const clients = await Promise.all(
      filters.flatMap(([query]) => [
        tailOf(tenant, { query: `?${query}` }),
        tailOf(tenant, { query: `?${query}&since=0` }),
      ]),
    );
    for (const at of [100, 200, 300]) receiptOf(await send(tenant, entries.slice(at, at + 100)));
    for (const [index, [query, passes]] of filters.entries()) {
      const wanted = range(0, 399).filter(passes);
      const [live, behind] = clients.slice(index * 2);
      await behind?.has(wanted.length);
      expect([query, behind?.seqs]).toEqual([query, wanted.map((n) => n + 1)]);
      await live?.has(wanted.filter((n) => n >= 100).length);
      expect([query, live?.seqs]).toEqual([query, wanted.filter((n) => n >= 100).map((n) => n + 1)]);
    }
    for (const client of clients) client.close();
  });

  it("cuts frames at 500 entries", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    receiptOf(await send(tenant, numbered(1000)));
    await client.has(1000);
    const sizes = client.frames.flatMap((frame) => (frame.type === "logs" ? [frame.entries.length] : []));
    expect(sizes).toEqual([500, 500]);
    client.close();
  });

  it("delivers entries of a quarter of a megabyte, live and behind", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    const big = range(1, 12).map((n) => ({ message: String(n % 10).repeat(250_000) }));
    receiptOf(await send(tenant, big));
    const again = await tailOf(tenant, { query: "?since=0" });
    for (const each of [client, again]) {
      await each.has(12);
      expect(each.messages.map((message) => message.length)).toEqual(big.map(() => 250_000));
      expect(each.seqs).toEqual(range(1, 12));
      each.close();
    }
  });
});

describe("a client that", () => {
  it("acknowledges nothing is closed after 10,000 entries, and resumes at its position", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant, { acks: false });
    await fill(tenant, 10, 1000);
    await client.has(10_000);
    expect(client.closed).toBeNull();
    receiptOf(await send(tenant, numbered(1, 10_000)));
    await client.ends();
    expect(client.closed).toEqual({ code: 4008, reason: "since=10000" });
    expect(client.seqs).toEqual(range(1, 10_000));
    const again = await tailOf(tenant, { query: "?since=10000" });
    await again.has(1);
    expect(again.seqs).toEqual([10_001]);
    again.close();
  });

  it("is far behind gets at most 10,000 entries before it acknowledges some, across evictions", async () => {
    const tenant = await newTenant();
    await fill(tenant, 12, 1000);
    const client = await tailOf(tenant, { acks: false, query: "?since=0" });
    await client.has(10_000);
    await evict(tenant.workspaceId);
    receiptOf(await send(tenant, numbered(1)));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.seqs).toEqual(range(1, 10_000));
    client.ack(5000);
    await caughtUp(client);
    expect(client.seqs).toEqual(range(1, 12_001));
    expect(client.closed).toBeNull();
    client.close();
  });

  it.each([
    ["no JSON", "ack"],
    ["another type", '{"type":"pause"}'],
    ["a seq that was never sent", '{"type":"ack","seq":99}'],
    ["a negative seq", '{"type":"ack","seq":-1}'],
    ["bytes", new ArrayBuffer(8)],
    ["a megabyte", "x".repeat(1_000_000)],
  ])("sends %s is notified and closed, and no other is", async (_what, message) => {
    const tenant = await newTenant();
    const [client, other] = [await tailOf(tenant), await tailOf(tenant)];
    client.send(message);
    // Frames that were already on their way.
    client.send('{"type":"ack","seq":0}');
    await client.ends();
    expect(client.errors).toEqual(["VALIDATION_ERROR"]);
    expect(client.closed?.code).toBe(1008);
    receiptOf(await send(tenant, numbered(1)));
    await other.has(1);
    expect(client.seqs).toEqual([]);
    other.close();
  });

  it("A3: is stalled reaches its bound before it affects others: a tail of another key gets all entries", async () => {
    const tenant = await newTenant();
    const live = await tailOf(tenant);
    // 12 MB. A single tail may buffer 6 MiB, and all tails of a key 9.6 MiB.
    for (let batch = 0; batch < 4; batch++) receiptOf(await send(tenant, big()));
    await live.has(48);
    const stalled = { ...tenant, ...(await addKey(tenant)) };
    const silent: Client[] = [];
    for (let i = 0; i < 5; i++) silent.push(await tailOf(stalled, { acks: false, query: "?since=0" }));
    await settled(() => unackedBytes(tenant));
    expect(await unackedBytes(tenant)).toBeGreaterThan(8_000_000);
    const other = await tailOf({ ...tenant, ...(await addKey(tenant)) }, { query: "?since=0" });
    await other.has(48);
    expect(other.seqs).toEqual(range(1, 48));
    other.close();
    expect(await unackedBytes(tenant)).toBeLessThan(10_100_000);
    receiptOf(await send(tenant, numbered(5)));
    await live.has(53);
    expect(silent.map(({ closed }) => closed)).toEqual(silent.map(() => null));
    for (const client of [live, ...silent]) client.close();
  });

  it("A3: reads nothing is closed and, if its connection stays, ended with all others, so that there is room again", async () => {
    const tenant = await newTenant();
    const live = await tailOf(tenant);
    for (let batch = 0; batch < 4; batch++) receiptOf(await send(tenant, big()));
    await live.has(48);
    // Nothing is read, and no close is answered. Uses five keys, because a single one leaves room.
    for (let key = 0; key < 5; key++) {
      const { secret } = await addKey(tenant);
      const response = await tailResponse(tenant.projectId, { query: "?since=0", headers: bearer(secret) });
      expect(response.status).toBe(101);
      unread.push(response);
      await settled(() => unackedBytes(tenant));
    }
    const waiting = await tailOf({ ...tenant, ...(await addKey(tenant)) }, { query: "?since=0" });
    await settled(() => unackedBytes(tenant));
    expect(waiting.seqs.length).toBeLessThan(48);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    try {
      for (const wait of [TAIL_STALL_MS, TAIL_CLOSING_MS, TAIL_CLOSING_MS]) {
        vi.setSystemTime(Date.now() + wait);
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    } finally {
      vi.useRealTimers();
    }
    await live.ends();
    const again = await tailOf(tenant, { query: "?since=40" });
    await again.has(8);
    expect(again.seqs).toEqual(range(41, 48));
    expect(await openSockets(tenant)).toBe(1);
    again.close();
  }, 30_000);

  it("closes its end is removed", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    client.close();
    await client.ends();
    receiptOf(await send(tenant, numbered(1)));
    expect(await openSockets(tenant)).toBe(0);
  });
});

/** Three megabytes. */
const big = () => range(0, 11).map((n) => ({ message: String(n % 10).repeat(250_000) }));

/** Responses whose sockets are never read. Kept, so that they are not garbage collected. */
const unread: Response[] = [];

/** Waits until a number has not changed for a while. */
async function settled(read: () => Promise<number>): Promise<void> {
  for (let last = -1, same = 0; same < 5; ) {
    const now = await read();
    same = now === last ? same + 1 : 0;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Bytes sent to all tails of the workspace and not acknowledged, by their stored marks. */
function unackedBytes(tenant: Tenant): Promise<number> {
  return runInDurableObject(workspace(tenant.workspaceId), (_, ctx) => {
    let sum = 0;
    for (const socket of ctx.getWebSockets()) {
      const [, ...marks]: number[] = socket.deserializeAttachment()[6];
      for (let at = 2; at < marks.length; at += 3) sum += marks[at] ?? 0;
    }
    return sum;
  });
}

function openSockets(tenant: Tenant): Promise<number> {
  return runInDurableObject(workspace(tenant.workspaceId), (_, ctx) => ctx.getWebSockets().length);
}
