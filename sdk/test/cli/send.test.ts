import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Reply, type Sink, sleep, startSink } from "../support/sink.ts";
import { type Env, run, start } from "./program.ts";

let sink: Sink;
let dir = "";
let env: Env;
let answer: (number: number, entries: number) => Reply;

beforeEach(async () => {
  answer = () => ({ status: 201 });
  sink = await startSink(({ entries }, number) => {
    const reply = answer(number, entries.length);
    if (reply === null || reply === "cut" || reply.body || reply.status !== 201) return reply;
    const data = { accepted: entries.length, rejected: [], rejectedCount: 0, lastSeq: number };
    return { ...reply, body: { success: true, data } };
  });
  dir = mkdtempSync(path.join(tmpdir(), "taffrail-cli-"));
  env = { TAFFRAIL_URL: sink.url, TAFFRAIL_API_KEY: "sk_planted", TAFFRAIL_PROJECT: "proj_1" };
});
afterEach(async () => {
  await sink.close();
  rmSync(dir, { recursive: true, force: true });
});

const refusal = (status: number, code: string, headers = {}): Reply => ({
  status,
  headers,
  body: { success: false, data: null, error: { code, message: "Because." } },
});
const messages = () => sink.stored().map(({ message }) => message);
const ndjson = (count: number) => Array.from({ length: count }, (_, n) => `{"message":"m${n}"}\n`).join("");
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `m${n}`);

test("sends input unchanged and in order, 1,000 entries per request", async () => {
  const { code, err } = await run(["send"], env, `{"message":"m0", "data": {"n": 1.0}}\n${ndjson(2500)}`);
  expect({ code, err }).toEqual({ code: 0, err: "2501 entries stored, the last one as seq 2.\n" });
  expect(sink.seen.map(({ entries }) => entries.length)).toEqual([1000, 1000, 501]);
  expect(messages().slice(1)).toEqual(numbered(2500));
  expect(sink.seen[0]?.body.startsWith('{"message":"m0", "data": {"n": 1.0}}\n')).toBe(true);
  expect(sink.seen[0]?.headers).toMatchObject({ authorization: "Bearer sk_planted", "content-encoding": "gzip" });
});

test("keeps bodies below 5 MiB", async () => {
  await run(["send"], env, `{"message":"${"x".repeat(200_000)}"}\n`.repeat(60));
  expect(sink.stored().length).toBe(60);
  for (const { body } of sink.seen) expect(body.length).toBeLessThanOrEqual(5 * 1024 * 1024);
});

test("reads files and standard input in order", async () => {
  writeFileSync(path.join(dir, "a.json"), '[{"message":"a1"},\n{"message":"a2"}]');
  writeFileSync(path.join(dir, "b.ndjson"), '{"message":"b"}\nno\n');
  const args = ["send", path.join(dir, "a.json"), "-", path.join(dir, "b.ndjson")];
  const { code, err } = await run(args, env, '{"message":"stdin"}');
  expect(messages()).toEqual(["a1", "a2", "stdin", "b"]);
  expect(code).toBe(1);
  expect(err).toContain(`${path.join(dir, "b.ndjson")}:2: INVALID_ENTRY: is not a JSON object`);
  const missing = await run(["send", path.join(dir, "none")], env);
  expect(missing.code).toBe(3);
  expect(missing.err).toMatch(/none could not be read: ENOENT/);
});

test("sends a line within a second while the input stays open", async () => {
  const program = start(["send", "--text", "--level", "warn", "--data", "app=x"], env);
  // The program reads once it has started, which is not part of the second.
  program.child.stdin?.write("zero\n");
  await program.until(() => messages().includes("zero"));
  for (const line of ["one", "two"]) {
    program.child.stdin?.write(`${line}\n`);
    await program.until(() => messages().includes(line));
    // From when the program read the line until its request was here: pipes and this process are not part of the second.
    const request = sink.seen.find(({ entries }) => entries.some(({ message }) => message === line));
    const readAt = Date.parse(request?.entries.find(({ message }) => message === line)?.timestamp ?? "");
    expect((request?.at ?? Number.NaN) - readAt).toBeLessThan(1000);
  }
  expect(sink.stored()[0]).toMatchObject({ message: "zero", level: "warn", data: { app: "x" } });
  expect(Math.abs(Date.parse(sink.stored()[0]?.timestamp ?? "") - Date.now())).toBeLessThan(10_000);
  program.child.stdin?.write("three\nhalf a line");
  program.child.kill("SIGINT");
  expect((await program.ended).code).toBe(0);
  expect(messages().slice(0, 4)).toEqual(["zero", "one", "two", "three"]);
});

test("loses and duplicates nothing after 503, 429 with Retry-After and a lost answer", async () => {
  const replies: Reply[] = [
    refusal(503, "SERVICE_UNAVAILABLE", { "Retry-After": "0" }),
    refusal(429, "RATE_LIMITED", { "Retry-After": "1" }),
    "cut",
  ];
  answer = (number) => replies[number] ?? { status: 201 };
  const { code, err } = await run(["send"], env, ndjson(1500));
  expect(code).toBe(0);
  expect(messages()).toEqual(numbered(1500));
  expect(new Set(sink.seen.slice(0, 4).map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
  expect((sink.seen[2]?.at ?? 0) - (sink.seen[1]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  expect(err).toContain("Because. (503 SERVICE_UNAVAILABLE) Retrying in 0.0 s.");
  expect(err).toContain("Because. (429 RATE_LIMITED) Retrying in 1.0 s.");
  expect(err).toContain(`No answer from ${sink.url}`);
});

test("gives up after --retry-for, and names the first unacknowledged line", async () => {
  answer = (number) => (number === 0 ? { status: 201 } : refusal(503, "SERVICE_UNAVAILABLE"));
  const { code, err } = await run(["send", "--retry-for", "1s"], env, ndjson(3000));
  expect(code).toBe(3);
  expect(err).toContain("1000 entries stored");
  expect(err).toContain("Stopped: nothing from line 1001 on was acknowledged.");
  answer = () => refusal(429, "RATE_LIMITED", { "Retry-After": "3600" });
  expect((await run(["send", "-m", "x"], env)).err).toContain("The service asks to wait 60 min.");
});

test("halves a batch after 413, and names an entry that is too large", async () => {
  answer = (_, entries) => (entries > 3 ? refusal(413, "PAYLOAD_TOO_LARGE") : { status: 201 });
  expect((await run(["send"], env, ndjson(20))).code).toBe(0);
  expect(messages()).toEqual(numbered(20));
  answer = () => refusal(413, "PAYLOAD_TOO_LARGE");
  const { code, err } = await run(["send", "-m", "x"], env);
  expect({ code, err }).toEqual({
    code: 1,
    err: "the entry: PAYLOAD_TOO_LARGE: Because.\n0 entries stored; 1 rejected.\n",
  });
});

test("names rejected entries by their lines", async () => {
  const rejected = [{ index: 1, code: "INVALID_LEVEL", message: "No." }];
  answer = () => ({
    status: 201,
    body: {
      success: true,
      data: { accepted: 1, rejected, rejectedCount: 2, firstSeq: 5, lastSeq: 5, duplicate: false },
    },
  });
  const { code, out, err } = await run(
    ["send", "--json"],
    env,
    '\n{"message":"a"}\n\n{"message":"b"}\n{"message":"c"}',
  );
  expect(code).toBe(1);
  expect(err).toBe(
    "line 4: INVALID_LEVEL: No.\nline 2 to line 5: 1 more rejected; the service does not name them\n1 entry stored, the last one as seq 5; 2 rejected.\n",
  );
  expect(JSON.parse(out)).toEqual({
    accepted: 1,
    firstSeq: 5,
    lastSeq: 5,
    duplicate: false,
    firstLine: 2,
    lastLine: 5,
  });
});

test("ends immediately after a permanent refusal, with a message without the key", async () => {
  answer = () => ({
    status: 401,
    body: { success: false, error: { code: "API_KEY_REVOKED", message: "The key sk_planted is revoked." } },
  });
  const { code, err } = await run(["send"], env, ndjson(5000));
  expect(code).toBe(3);
  expect(sink.seen.length).toBe(1);
  expect(err).toContain("taffrail: The key [key] is revoked. (401 API_KEY_REVOKED)");
  answer = () => ({ status: 302, headers: { Location: "https://elsewhere.example" } });
  expect((await run(["send", "-m", "x"], env)).err).toContain("answered 302, but is not a Taffrail service");
});

test("reports a failure while the input stays open", async () => {
  answer = () => refusal(403, "INSUFFICIENT_SCOPE");
  const program = start(["send", "--text"], env);
  program.child.stdin?.write("one\n");
  expect(await program.ended).toMatchObject({ code: 3, err: expect.stringContaining("(403 INSUFFICIENT_SCOPE)") });
});

test("reads input only as fast as the service accepts it", async () => {
  answer = () => null;
  const program = start(["send", "--text"], env);
  const { stdin, pid } = program.child;
  let written = 0;
  const line = `${"x".repeat(999)}\n`.repeat(100);
  const write = () => {
    while (written < 200_000_000 && stdin?.write(line)) written += line.length;
    stdin?.once("drain", write);
  };
  write();
  await sleep(2000);
  expect(written).toBeLessThan(20_000_000);
  process.kill(pid ?? 0, "SIGKILL");
  await program.ended;
});
