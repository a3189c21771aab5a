import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { asUser, call, createKey, createTenant, type Tenant } from "../../../test/support/api.ts";
import { startServer, type TestServer } from "../../../test/support/server.ts";
import { createLogger } from "../../src/index.ts";
import { sleep } from "../support/sink.ts";
import { type Env, type Program, run, start } from "./program.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
let server: TestServer;
let tenant: Tenant;
let env: Env;

beforeAll(async () => {
  // Small objects, so that a query and a tail have both tiers to read.
  server = await startServer({ env: { RECENT_MAX_BYTES: "20000" } });
});
afterAll(async () => {
  await server.stop();
});
beforeEach(async () => {
  tenant = await createTenant(server.url);
  env = { TAFFRAIL_URL: server.url, TAFFRAIL_API_KEY: tenant.key.secret, TAFFRAIL_PROJECT: tenant.projectId };
});

const ndjson = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${JSON.stringify({ message: "entry", data: { n: from + i } })}\n`).join(
    "",
  );
const numbers = ({ out }: { out: string }) =>
  out
    .split("\n")
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line).data.n);
const seqs = (program: Program) => program.lines().map((line): unknown => JSON.parse(line).seq);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test("finds, counts and follows sent entries", async () => {
  expect(await run(["send"], env, ndjson(0, 2500))).toMatchObject({ code: 0, err: /^2500 entries stored/ });
  const sent = await run(["send", "-m", "It broke", "--level", "error", "--data", "user.plan=team"], env);
  expect(sent).toMatchObject({ code: 0, err: "1 entry stored, the last one as seq 2501.\n" });

  const all = await run(["query", "--all", "--order", "asc", "--json", "--data", "n"], env);
  expect(numbers(all)).toEqual(range(0, 2500));
  expect((await run(["query", "--limit", "1500", "--json"], env)).out.split("\n").length).toBe(1501);
  const found = await run(["query", "--min-level", "warn", "--search", "BROKE", "--data", "user.plan=team"], env);
  expect(found.out).toMatch(/^\d{4}-\d\d-\d\d [\d:.]{12} ERROR custom\/log It broke user\.plan=team\n$/);
  expect((await run(["query", "--json", "--data", "n>=2490", "--data", "n<2493"], env)).out).toMatch(
    /^(?:[^\n]+\n){3}$/,
  );
  expect((await run(["query", "--since", "1h", "--until", "30m"], env)).out).toBe("");

  const counted = await run(["stats", "--by", "level", "--interval", "1d"], env);
  expect(counted.out).toMatch(/\n2501 in all, by 1d\n$/);
  expect(counted.out).toMatch(/█ +info 2500 {2}error 1/);

  const table = ["stats", "--agg", "count as n", "--agg", "max(n)", "--by", "level", "--sort", "n"];
  const aggregated = await run(table, env);
  expect(aggregated).toMatchObject({
    code: 0,
    out: "level     n  max(n)\ninfo   2500    2499\nerror     1       -\n",
    err: "",
  });
  expect((await run([...table, "--json", "--limit", "1"], env)).out).toBe('{"level":"info","n":2500,"max(n)":2499}\n');

  for (const since of ["seq:0", "1h"]) {
    const tail = start(["tail", "--json", "--since", since, "--limit", "2502"], env);
    await tail.until(() => tail.lines().length >= 2501);
    await run(["send", "-m", "live"], env);
    expect(await tail.ended).toMatchObject({ code: 0 });
    expect(new Set(seqs(tail)).size).toBe(2502);
    expect(tail.lines().at(-1)).toContain('"live"');
  }
});

/** The queries of the tour in the document, of which some examples have two, and the number of examples. */
function tour(): { examples: number; queries: string[] } {
  const page = readFileSync(path.join(ROOT, "docs/query-language.md"), "utf8");
  return {
    examples: [...page.matchAll(/^\*\*\d+\. /gm)].length,
    queries: [...page.matchAll(/^```query\n(.*?)\n```$/gms)].map(([, query = ""]) => query),
  };
}

/** Entries of which each example of the tour finds some, over both tiers. */
function shop(): string {
  const now = Date.now();
  const routes = ["/checkout", "/cart", "/api/orders"];
  const entries = Array.from({ length: 300 }, (_, n) => ({
    message: [
      `Request ${n} timed out at the gateway: read timeout`,
      `GET ${routes[n % 3]} took ${n} ms`,
      `No order of User ${n}`,
    ][n % 3],
    level: n % 3 === 0 ? "error" : n % 3 === 1 ? "info" : "warn",
    timestamp: now - n * 60_000,
    data: {
      route: routes[n % 3],
      status: n % 3 === 0 ? 504 : n % 3 === 2 ? 503 : 200,
      ms: n,
      user: n % 2 ? { id: n % 7, plan: "team" } : { plan: "free" },
    },
  }));
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

test("17.7: every example of the tour runs and finds something; search, tail and query take the language", async () => {
  await run(["send"], env, shop());
  const { examples, queries } = tour();
  expect([examples, queries.length]).toEqual([10, 11]);
  for (const query of queries) {
    const { body: answer } = await call(server.url, "/logger/search", {
      headers: { Authorization: `Bearer ${tenant.key.secret}` },
      body: { query },
    });
    const { kind, rows, logs, matched, complete, notes } = Object(Object(answer).data);
    // The project is new, so it has no period before; its users and routes have equal numbers of entries.
    const wanted = query.includes(" vs ")
      ? [expect.stringMatching(/: the first entry is of /)]
      : query.includes("top 10 by user.id")
        ? [expect.stringMatching(/^Rows that are left out have the same `count` as the last one\. /)]
        : [];
    expect({ query, rows: (kind === "table" ? rows : logs).length > 0, complete, notes }).toEqual({
      query,
      rows: true,
      complete: true,
      notes: wanted,
    });
    expect(matched).toBeGreaterThan(0);
  }

  const table = await run(["search", "* | stats count() as n by route | sort n desc | limit 2"], env);
  // A note, because four more routes have 100 entries.
  expect(table).toMatchObject({
    code: 0,
    out: "route          n\n/api/orders  100\n/cart        100\n",
    err: expect.stringMatching(/^Rows that are left out have the same `n` as the last one\. .*\n$/),
  });
  const csv = await run(["search", "status:>=500 | count by status", "--csv"], env);
  expect(csv.out.split("\n").sort()).toEqual(["", "503,100", "504,100", "status,count"]);
  const bars = await run(["search", "time:2h | stats count() by bin(30m)"], env);
  expect(bars.out).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d to .* \(UTC\)\ncount\(\) {2}[▁▂▃▄▅▆▇█]{4,5} {2}to \d+\n\ntime \(UTC\) +count\(\)\n\d{4}-\d\d-\d\d \d\d:/,
  );
  const entries = await run(["search", "ms:<5 | sort time", "--json"], env);
  expect(
    entries.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).data.ms),
  ).toEqual([4, 3, 2, 1, 0]);
  const cut = await run(["search", "*"], env);
  expect(cut.out.trim().split("\n")).toHaveLength(100);
  expect(cut.err).toBe("The first 100 entries; more may match. For more: --all or --max-rows\n");
  const seven = await run(["search", "*", "--max-rows", "7"], env);
  expect([seven.out.trim().split("\n").length, seven.err]).toEqual([7, ""]);
  // 17: the limit of the query is that of the command.
  const limited = await run(["search", "* | limit 150"], env);
  expect([limited.out.trim().split("\n").length, limited.err]).toEqual([150, ""]);
  const whole = await run(["search", "*", "--all", "--json"], env);
  expect([whole.out.trim().split("\n").length, whole.err]).toEqual([300, ""]);
  expect(await run(["search", "staus:504"], env)).toMatchObject({
    code: 0,
    out: "",
    err: "No recent entry has the member `staus`; did you mean `status`?\n0 entries matched\n",
  });

  const wrong = await run(["search", "level:error | stats p9(ms)"], env);
  expect(wrong).toMatchObject({
    code: 3,
    err: "taffrail: Unknown function `p9`. (400 VALIDATION_ERROR)\n  level:error | stats p9(ms)\n                      ^\n  Did you mean `p90`?\n",
  });
  expect((await run(["query", "ms:<3 -route:/cart", "--json"], env)).out.trim().split("\n")).toHaveLength(2);
  expect((await run(["stats", "status:504", "--since", "all"], env)).out).toMatch(/100 in all/);
  expect((await run(["query", "a | count"], env)).err).toContain("without pipes");
  const tail = await run(["tail", "-status:200 ms:<10", "--since", "seq:0", "--limit", "6", "--json"], env);
  expect(
    tail.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).data.ms),
  ).toEqual([0, 2, 3, 5, 6, 8]);
  expect(await run(["tail", "ms:>=", "--since", "seq:0"], env)).toMatchObject({
    code: 3,
    err: expect.stringContaining("\n  ms:>=\n       ^\n"),
  });

  const completed = async (line: string) => (await run(["complete", "bash", line], env)).out.trim().split("\n");
  expect(await completed("taffrail search 'level:error rou")).toEqual(["level:error route:"]);
  expect((await completed("taffrail search 'status:"))[0]).toMatch(/^status:(?:200|503|504)$/);
  expect(await completed("taffrail search 'a | to")).toEqual(["a | top"]);
  expect(await completed("taffrail se")).toEqual(["search", "send"]);
  expect(await completed("taffrail search x --max")).toEqual(["--max-rows", "--max-tokens"]);
});

test("exports what was sent from both tiers, in both formats, and only what is newer", async () => {
  await run(["send"], env, ndjson(0, 1500));
  const dir = mkdtempSync(path.join(tmpdir(), "taffrail-cli-"));
  const file = path.join(dir, "all.ndjson");
  const exported = await run(["export", "--out", file], env);
  expect(exported).toMatchObject({
    code: 0,
    err: `1500 entries exported, seq 1 to 1500 to ${file}. Count and SHA-256 verified.\n`,
  });
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -2);
  expect(lines.map((line): unknown => JSON.parse(line).data.n)).toEqual(range(0, 1500));
  const newer = await run(["export", "--after-seq", "1490", "--to", "2100-01-01"], env);
  expect(newer.out.split("\n").slice(0, 10)).toEqual(lines.slice(1490));
  const parquet = await run(["export", "--out", path.join(dir, "all.parquet"), "--json"], env);
  expect(parquet).toMatchObject({ code: 0, err: expect.stringMatching(/^1500 entries exported, seq 1 to 1500 to /) });
  expect(JSON.parse(parquet.out)).toMatchObject({ manifest: { count: 1500, complete: true, format: "parquet" } });
  rmSync(dir, { recursive: true });
});

test("misses and repeats nothing if the server is killed and restarted", async () => {
  const tail = start(["tail", "--json", "--since", "seq:0"], env);
  const sender = start(["send"], env);
  let n = 0;
  const input = setInterval(() => {
    sender.child.stdin?.write(ndjson(n, n + 5));
    n += 5;
  }, 10);
  for (let round = 0; round < 2; round++) {
    await tail.until(() => tail.lines().length > 100 * (round + 1));
    await server.kill9();
    await sleep(300);
    await server.restart();
  }
  await sleep(1500);
  clearInterval(input);
  sender.child.stdin?.end();
  const sent = await sender.ended;
  expect(sent).toMatchObject({ code: 0 });
  expect(sent.err).toContain(`${n} entries stored, the last one as seq ${n}.`);
  await tail.until(() => tail.lines().length >= n);
  tail.child.kill("SIGINT");
  const ended = await tail.ended;
  expect(ended.code).toBe(0);
  expect(seqs(tail)).toEqual(range(1, n + 1));
  expect(numbers(ended)).toEqual(range(0, n));
  expect(ended.err).toMatch(/Retrying in .*Reconnected after seq \d+\./s);
  expect(ended.err).toContain(`To continue after it: --since seq:${n}`);
}, 120_000);

test("stops on Ctrl-C while the service is unreachable", async () => {
  const tail = start(["tail", "--since", "seq:0"], env);
  await run(["send", "-m", "x"], env);
  await tail.until(() => tail.lines().length === 1);
  await server.kill9();
  await tail.until(() => tail.err().includes("Retrying in"));
  tail.child.kill("SIGINT");
  expect(await tail.ended).toMatchObject({ code: 0, err: expect.stringContaining("--since seq:1\n") });
  await server.restart();
});

test("loses nothing to a rate limit", async () => {
  const limits = await call(server.url, `/workspaces/${tenant.account.workspaceId}/rate-limits`, {
    method: "PUT",
    ...asUser(tenant.account),
    body: { rules: [{ method: "POST", path: "/logger/:id/log", limit: 2, windowSeconds: 1 }] },
  });
  expect(limits.status).toBe(200);
  const sent = await run(["send"], env, ndjson(0, 5500));
  expect(sent).toMatchObject({ code: 0, err: expect.stringContaining("Too many requests (429 RATE_LIMITED)") });
  expect(numbers(await run(["query", "--all", "--json", "--order", "asc"], env))).toEqual(range(0, 5500));
});

test("names rejected entries by line, and stores the others", async () => {
  const input = '{"message":"a"}\nplain text\n{"message":"b","level":"loud"}\n{broken\n\n{"message":"c"}\n';
  const { code, err } = await run(["send"], env, input);
  expect(code).toBe(1);
  const named = err.split("\n").map((line) => line.split(":").slice(0, 2).join(":"));
  expect(new Set(named.slice(0, 3))).toEqual(
    new Set(["line 2: INVALID_ENTRY", "line 3: INVALID_LEVEL", "line 4: INVALID_ENTRY"]),
  );
  expect(err).toMatch(/2 entries stored, the last one as seq 2; 3 rejected\.\n$/);
  expect((await run(["send"], env, '{"message":""}')).code).toBe(1);
});

test("ends a tail with a revoked key, and refuses other commands", async () => {
  const tail = start(["tail", "--since", "seq:0"], env);
  await run(["send", "-m", "x"], env);
  await tail.until(() => tail.lines().length === 1);
  const { projectId, key } = tenant;
  await call(server.url, `/projects/${projectId}/keys/${key.id}`, { ...asUser(tenant.account), method: "DELETE" });
  expect(await tail.ended).toMatchObject({ code: 3, err: expect.stringContaining("the key has been revoked") });
  for (const args of [["tail"], ["query"], ["stats"], ["send", "-m", "y"]]) {
    const { code, err } = await run(args, env);
    expect(code).toBe(3);
    expect(err).toContain("(401 API_KEY_REVOKED)");
    expect(err).not.toContain(key.secret);
  }
});

test("ends without a message if the reader closes the pipe", async () => {
  await run(["send"], env, ndjson(0, 1000));
  for (const args of [
    ["query", "--all"],
    ["tail", "--since", "seq:0"],
  ]) {
    const program = start(args, env);
    program.child.stdout?.destroy();
    const { code, err } = await program.ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
  }
});

test("resolves the files of npm run logs from the caller's directory", async () => {
  const dir = mkdtempSync(path.join(tmpdir(), "taffrail-cli-"));
  writeFileSync(path.join(dir, "app.log"), "first\nsecond\n");
  const args = ["run", "--silent", "--prefix", ROOT, "logs", "--", "send", "--text", "app.log"];
  const child = spawn("npm", args, { cwd: dir, env: { ...process.env, ...env } });
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const [code] = await once(child, "close");
  rmSync(dir, { recursive: true });
  expect({ code, err }).toEqual({ code: 0, err: "2 entries stored, the last one as seq 2.\n" });
});

test("B17: the audit is read with an access token in pages, and the token is never printed", async () => {
  const { account, projectId } = tenant;
  const { workspaceId, accessToken } = account;
  for (let n = 0; n < 230; n++) {
    await call(server.url, `/projects/${projectId}`, { ...asUser(account), method: "PATCH", body: { name: `p${n}` } });
  }
  const audit = { TAFFRAIL_URL: server.url, TAFFRAIL_WORKSPACE: workspaceId, TAFFRAIL_ACCESS_TOKEN: accessToken };
  const all = await run(["audit", "--all", "--json", "--action", "project.rename"], audit);
  expect([all.code, all.err]).toEqual([0, ""]);
  const items = all.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(items.map(({ after }) => after.name)).toEqual(range(0, 230).map((n) => `p${229 - n}`));

  const pretty = await run(["audit", "--limit", "1", "--target", projectId], audit);
  expect(pretty.out).toMatch(
    new RegExp(
      `^[-\\d]{10} [:.\\d]{12} \\S+@\\S+ project\\.rename ${projectId} before=\\{"name":"p228"\\} after=.* req_\\w+\\n$`,
    ),
  );
  expect((await run(["audit", "--since", "2035-01-01"], audit)).out).toBe("");

  const refused = await run(["audit"], { ...audit, TAFFRAIL_ACCESS_TOKEN: `${accessToken}x` });
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("INVALID_ACCESS_TOKEN")]);
  const visible = await run(["audit", "--actor", accessToken], audit);
  expect(visible.code).toBe(3);
  for (const { out, err } of [refused, visible, pretty]) expect(out + err).not.toContain(accessToken.slice(0, 40));
});

test("18.5: the ledger shows what the library lost on the way", async () => {
  const { account, projectId, key } = tenant;
  const { workspaceId, accessToken } = account;
  let isSwallowing = false;
  // A proxy that answers for the service and stores nothing.
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !["host", "connection", "content-length"].includes(name)),
    );
    const answer = isSwallowing
      ? Response.json({ success: true, data: { accepted: 1, rejected: [] } }, { status: 201 })
      : await fetch(`${server.url}${request.url}`, {
          method: "POST",
          headers: headers as Record<string, string>,
          body: Buffer.concat(chunks),
        });
    response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = Object(proxy.address());
  const logger = createLogger({
    apiUrl: `http://127.0.0.1:${port}`,
    projectId,
    apiKey: key.secret,
    transport: "batch",
  });
  const log = async (count: number) => {
    for (let n = 0; n < count; n++) logger.info("entry", { n });
    await logger.flush();
  };
  await log(3);
  isSwallowing = true;
  await log(37);
  isSwallowing = false;
  await log(1);
  await logger.close();
  proxy.close();
  const member = { TAFFRAIL_URL: server.url, TAFFRAIL_WORKSPACE: workspaceId, TAFFRAIL_ACCESS_TOKEN: accessToken };
  const listed = await run(["ledger", "--project", projectId, "--json"], member);
  expect([listed.code, listed.err]).toEqual([0, ""]);
  const items = listed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ gap }) => gap !== null);
  expect(items).toMatchObject([{ reason: "unknown", entries: 37, requests: null, gap: { first: 3, open: true } }]);
  const pretty = await run(["ledger", "--project", projectId], member);
  expect(pretty.out).toMatch(/ 37 unknown key_\w+ before seq \d+, stream [\w-]+, may still arrive\n/);
  expect(pretty.out).toContain("37 unknown: never arrived\n");
});

test("alerts are applied from a file, listed, muted and exported with a key that may do so", async () => {
  const { account, projectId } = tenant;
  const { accessToken, workspaceId } = account;
  const { secret } = await createKey(server.url, account, projectId, ["logs:read", "alerts:write"]);
  const ci = { ...env, TAFFRAIL_API_KEY: secret };
  const directory = mkdtempSync(path.join(tmpdir(), "taffrail-rules-"));
  const file = path.join(directory, "rules.yaml");
  const alerts = (args: string, with_: Env = ci) => run(["alerts", ...args.split(" ")], with_);
  try {
    writeFileSync(
      file,
      "alerts:\n  - name: Errors\n    query: level:>=error\n    condition: { kind: threshold, value: 1 }\n    window: 1m\n",
    );
    const planned = await alerts(`apply -f ${file} --dry-run`);
    expect(planned).toMatchObject({ code: 1, out: expect.stringContaining("+ create Errors") });
    expect(await alerts("list")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("No alerts.") });
    expect(await alerts(`apply -f ${file}`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/1 created, 0 changed, 0 deleted, 0 unchanged\.\n$/),
    });
    expect(await alerts(`apply -f ${file} --dry-run`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/1 unchanged\.\n$/),
    });
    const exported = await alerts("export");
    writeFileSync(file, exported.out);
    expect(await alerts(`apply -f ${file} --dry-run --prune`)).toMatchObject({ code: 0 });

    await run(["send", "-m", "It broke", "--level", "error"], env);
    // A window is decided at its end, up to a second later.
    const fired = /^Errors would have fired once from /;
    await expect.poll(async () => (await alerts("preview Errors")).out, { timeout: 10_000 }).toMatch(fired);
    expect((await alerts(`preview -f ${file} --json`)).out).toContain('"firings":1');
    expect(await alerts("mute Errors --for 1h")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Errors is muted until /),
    });
    expect((await alerts("list")).out).toMatch(/Errors +\w+, muted until/);
    expect(await alerts("unmute Errors")).toMatchObject({ code: 0 });
    expect(await alerts("show Errors")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^# alert_\w+, version 3 .*\nalerts:\n {2}- name: Errors\n/),
    });
    expect(await alerts("history Errors")).toMatchObject({ code: 0 });

    writeFileSync(
      file,
      exported.out.replace("window: 1m", "window: 90m\n    windw: 1m").replace("level:>=error", "level:>=err"),
    );
    const wrong = await alerts(`apply -f ${file} --dry-run`);
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toMatch(new RegExp(`^taffrail: ${file}:\\d+:\\d+: alert "Errors", `));
    expect(wrong.err).toContain('alert "Errors", windw: ');
    expect(await alerts("list", env)).toMatchObject({
      code: 3,
      err: expect.stringContaining("lacks the scope alerts:read"),
    });
    const member = {
      ...{ TAFFRAIL_URL: server.url, TAFFRAIL_PROJECT: projectId },
      ...{ TAFFRAIL_WORKSPACE: workspaceId, TAFFRAIL_ACCESS_TOKEN: accessToken },
    };
    expect(await alerts("delete Errors", member)).toMatchObject({ code: 0, out: "Errors is deleted.\n" });
    expect(await alerts("delete Errors")).toMatchObject({
      code: 3,
      err: expect.stringContaining("has no alert Errors"),
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
