import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { bearer } from "../accounts/support.ts";
import { addKey, addProject, evict, messagesOf, newTenant, onSql, receiptOf, send } from "./support.ts";

it("issue 16, point 7: requests of one commit share rows, and keep their seq, receipts and ids", async () => {
  const own = await newTenant();
  const otherId = await addProject(own);
  const other = { ...own, ...(await addKey({ ...own, projectId: otherId })), projectId: otherId };
  const total = 60;
  const bodyOf = (i: number) =>
    Array.from({ length: 1 + (i % 5) * 10 }, (_, n) => ({ message: `${i}.${n}`, traceId: `t${i}`, session: `s${i}` }));
  const sentTo = (i: number) => (i % 4 === 0 ? other : own);
  const answers = await Promise.all(
    Array.from({ length: total }, (_, i) => send(sentTo(i), bodyOf(i), { idempotencyKey: `key${i}` })),
  );
  const receipts = answers.map(receiptOf);
  const rows = await onSql(own.workspaceId, (sql) =>
    sql.exec("SELECT project, first_seq, count FROM batches ORDER BY commit_no").toArray(),
  );
  expect(rows.length).toBeLessThan(total);
  for (const tenant of [own, other]) {
    const messages = await messagesOf(tenant);
    for (const [i, { firstSeq, lastSeq, accepted }] of receipts.entries()) {
      if (sentTo(i) !== tenant) continue;
      expect(accepted).toBe(bodyOf(i).length);
      expect(messages.slice(firstSeq - 1, lastSeq)).toEqual(bodyOf(i).map(({ message }) => message));
    }
  }
  await evict(own.workspaceId);
  const again = await Promise.all(
    Array.from({ length: total }, (_, i) => send(sentTo(i), bodyOf(i), { idempotencyKey: `key${i}` })),
  );
  expect(again.map(receiptOf)).toEqual(receipts.map((receipt) => ({ ...receipt, duplicate: true })));
  for (const i of [1, 2, 3, 59]) {
    const answer = await exports.default.fetch("http://taffrail.test/logger/query", {
      method: "POST",
      headers: { ...bearer(sentTo(i).secret), "Content-Type": "application/json" },
      body: JSON.stringify({ filters: { traceId: `t${i}`, session: `s${i}` }, pagination: { limit: 100 } }),
    });
    const { data } = await answer.json<{ data: { logs: { message: string }[] } }>();
    expect(data.logs.map(({ message }) => message).sort()).toEqual(
      bodyOf(i)
        .map(({ message }) => message)
        .sort(),
    );
  }
});
