/**
 * `npm run demo:newcomers [address]`: fills a workspace of a local server for trials by people who have never seen the console: 200,000
 * entries of a day with a planted outage, members, keys of which two were deleted, an audit log. Prints the sign-in and five tasks, and
 * the answers to standard error. `--entries N` and `--seed N` make another day.
 */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { type Account, asUser, call, createProject } from "../test/support/api.ts";
import { exitWith } from "./lib/failure.ts";
import { createWorkspace, join, keyOf, ok, revokeKey, sendAll, verified } from "./lib/members.ts";
import { type Day, dayOfShop } from "./newcomers/day.ts";
import { PROVIDER, VERSIONS, WRONG_TIMEOUT_MS } from "./newcomers/orders.ts";

const DELETED = "nightly import";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { entries: { type: "string", default: "200000" }, seed: { type: "string", default: "1" } },
});
const address = positionals[0] ?? process.env.BASE_URL ?? `http://127.0.0.1:${process.env.PORT ?? 8787}`;
await trial(address.replace(/\/$/, ""), Number(values.entries), Number(values.seed)).catch(exitWith);

async function trial(url: string, count: number, seed: number): Promise<void> {
  const day = dayOfShop(seed, count, Date.now() - 60_000);
  const run = randomBytes(3).toString("hex");
  const [owner, jonas, priya, tom] = await Promise.all(
    ["Ada", "Jonas", "Priya", "Tom"].map((name, index) => person(url, name, run, index)),
  );
  if (!owner || !jonas || !priya || !tom) throw new Error("An account is missing.");
  const home = { ...owner, workspaceId: await createWorkspace(url, owner, "Harbour Goods") };
  await Promise.all([join(url, home, jonas, "admin"), join(url, home, priya, "admin"), join(url, home, tom, "viewer")]);
  const projectId = await createProject(url, home, "shop");
  const at = (account: Account): Account => ({ ...account, workspaceId: home.workspaceId });

  const key = await keyOf(url, home, projectId, { name: "services", scopes: ["logs:write"] });
  const nightly = await keyOf(url, home, projectId, { name: DELETED, scopes: ["logs:write"] });
  await keyOf(url, at(priya), projectId, { name: "reports", scopes: ["logs:read"] });
  const laptop = await keyOf(url, at(priya), projectId, { name: "laptop of Priya", scopes: ["logs:read"] });
  await sendAll(url, projectId, key, day.entries);
  await ok(call(url, `/projects/${projectId}`, { ...asUser(at(priya)), method: "PATCH", body: { name: "web-shop" } }));
  await revokeKey(url, at(priya), projectId, laptop);
  await revokeKey(url, at(jonas), projectId, nightly);
  const limits = { default: { limit: 1200, windowSeconds: 60 }, rules: [] };
  const path = `/workspaces/${home.workspaceId}/rate-limits`;
  await ok(call(url, path, { ...asUser(at(priya)), method: "PUT", body: limits }));
  console.log(tasks(url, owner, day));
  console.error(answers(day, jonas));
}

/** Members use addresses of their own, as in life, and so that no limit by client IP applies. */
function person(url: string, name: string, run: string, index: number): Promise<Account> {
  const password = `harbour-${run}-${name.toLowerCase()}`;
  const email = `${name.toLowerCase()}-${run}@harbour.example`;
  return verified(url, { email, password, name }, { "X-Forwarded-For": `203.0.113.${10 + index}` });
}

function tasks(url: string, { email, password }: Account, { special }: Day): string {
  return `# Tasks

You work at Harbour Goods, a shop on the web. Its services (gateway, catalog, search, checkout, inventory, payments, auth, mailer) send
their logs to ${url}. You have never used it before.

Sign in as ${email} with the password ${password}

1. Customers complained that orders failed at some time in the last 24 hours. Find out from when until when, which part of the shop failed,
   and which change was the cause.
2. Your manager asks for a picture of it: make a chart of the failures over time, and keep it where your colleagues see it, too.
3. Your new colleague Mara (mara@harbour.example) shall be able to look at the logs, but change nothing. Give her access.
4. The nightly import sends no logs any more, because its API key ("${DELETED}") is gone. Find out who deleted it, and when.
5. A customer writes that placing the order ${special.order} took very long. Find out which step of it took the time, how long that was,
   and what it waited for.
`;
}

function answers({ outage, special }: Day, deleter: Account): string {
  const [from, to] = [outage.from, outage.to].map((time) => new Date(time).toISOString());
  return `# Answers

1. From ${from} to ${to} (UTC). Charges through ${PROVIDER} timed out in payments, so checkout and gateway answered POST /orders with 502;
   other providers worked. Cause: payments ${VERSIONS.wrong} was started with timeoutMs.${PROVIDER} = ${WRONG_TIMEOUT_MS} instead of 3000;
   ${VERSIONS.mended} set it back. Releases of search, catalog, checkout and gateway have nothing to do with it.
2. For example level:error | count by bin(5m), service as an area or as bars, in a board.
3. An invitation with the role viewer.
4. Jonas (${deleter.email}), at the time of this run: see the audit log. (Priya deleted another key.)
5. The reservation in inventory: about ${special.lockMs} ms, waiting for the lock of ${special.job}.
`;
}
