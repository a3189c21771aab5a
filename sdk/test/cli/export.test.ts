import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Ended, run, start } from "./program.ts";

/** A service whose exports the test writes. */
type Respond = (response: ServerResponse, query: URLSearchParams, number: number) => void;

const folder = mkdtempSync(path.join(tmpdir(), "taffrail-export-"));
const server = createServer((request, response) => {
  const query = new URL(request.url ?? "", "http://x").searchParams;
  requests.push(Number(query.get("afterSeq")));
  respond(response, query, requests.length);
});
let requests: number[] = [];
let respond: Respond = () => {};
let url = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  url = `http://127.0.0.1:${address.port}`;
});
afterEach(() => {
  requests = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
const newFile = (end = "ndjson") => path.join(folder, `${files++}.${end}`);
const exported = (...args: string[]): Promise<Ended> =>
  run(["export", ...args], { TAFFRAIL_URL: url, TAFFRAIL_API_KEY: "sk_test", TAFFRAIL_PROJECT: "proj_a" });

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `{"id":"log_${from + at}","message":"é","seq":${from + at}}\n`).join(
    "",
  );

function manifestOf(text: string, members: object): string {
  const seqs = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).seq);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const facts = { count: seqs.length, firstSeq: seqs[0] ?? null, lastSeq: seqs.at(-1) ?? null, through: seqs.at(-1) };
  return `${JSON.stringify({ manifest: { ...facts, complete: true, unreadable: 0, missing: 0, sha256, ...members } })}\n`;
}

function sendNdjson(response: ServerResponse, text: string, members: object = {}): void {
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  response.end(text + manifestOf(text, members));
}

function sendParquet(response: ServerResponse, data: string, members: object): void {
  response.writeHead(200, { "Content-Type": "application/vnd.apache.parquet" });
  response.end(parquet(data, members));
}

/** Resolves when a file has a number of bytes. */
async function waitUntilWritten(file: string, bytes: number): Promise<void> {
  while ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < bytes) await delay(10);
}

/** A file of which only the end is as in Parquet. */
function parquet(data: string, members: object): Buffer {
  const sha256 = createHash("sha256").update(data).digest("hex");
  const manifest = {
    count: 1,
    firstSeq: 1,
    lastSeq: 1,
    through: 1,
    complete: true,
    unreadable: 0,
    missing: 0,
    sha256,
    ...members,
  };
  const metadata = Buffer.from(`...taffrail.manifest\u0018${JSON.stringify(manifest)}...`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(metadata.length);
  return Buffer.concat([Buffer.from(data), metadata, length, Buffer.from("PAR1")]);
}

describe("taffrail export", () => {
  test("continues after a connection that ends within a line, and after a response that is not complete", async () => {
    const file = newFile();
    respond = (response, query, number) => {
      const after = Number(query.get("afterSeq"));
      if (number === 1) {
        response.writeHead(200, { "Content-Type": "application/x-ndjson" });
        response.write(`${lines(1, 300)}{"id":"log_301","mess`);
        // A reader loses what it has not read when the connection ends.
        void waitUntilWritten(`${file}.partial`, lines(1, 300).length).then(() => response.destroy());
      } else if (number === 2) {
        response.writeHead(503, { "Content-Type": "application/json", "Retry-After": "0" });
        response.end('{"success":false,"error":{"code":"SERVICE_UNAVAILABLE","message":"Busy."}}');
      } else if (number === 3) sendNdjson(response, lines(after + 1, 400), { complete: false, through: 410 });
      else sendNdjson(response, lines(after + 1, 500), { unreadable: 0 });
    };
    const { code, err } = await exported("--out", file, "--retry-for", "1m");
    expect(err).toMatch(/Retrying in .*, after seq 300\.\n/);
    expect(err).toContain(`490 entries exported, seq 1 to 500 to ${file}. Count and SHA-256 verified.\n`);
    expect(code).toBe(0);
    expect(requests).toEqual([0, 300, 300, 410]);
    const text = lines(1, 400) + lines(411, 500);
    const sha256 = createHash("sha256").update(text).digest("hex");
    const written = readFileSync(file, "utf8");
    expect(written.startsWith(text)).toBe(true);
    expect(JSON.parse(written.slice(text.length))).toEqual({
      manifest: {
        afterSeq: 0,
        count: 490,
        firstSeq: 1,
        lastSeq: 500,
        through: 500,
        complete: true,
        unreadable: 0,
        missing: 0,
        sha256,
      },
    });
    expect(existsSync(`${file}.partial`)).toBe(false);
  });

  test("writes to standard output, and asks for what the options say", async () => {
    const asked: string[] = [];
    respond = (response, query) => {
      asked.push(`${query}`);
      sendNdjson(response, lines(8, 9));
    };
    const { code, out } = await exported("--from", "2026-11-20T00:00Z", "--to", "1795183200000", "--after-seq", "7");
    expect([code, out]).toEqual([0, lines(8, 9) + manifestOf(lines(8, 9), { afterSeq: 7 })]);
    expect(asked).toEqual(["format=ndjson&afterSeq=7&from=1795132800000&to=1795183200000"]);
  });

  test("refuses bytes that differ from their manifest, and says what is missing", async () => {
    for (const [members, what] of [
      [{ sha256: "0".repeat(64) }, "The SHA-256 differs"],
      [{ count: 5 }, "The number of entries differs"],
    ] as const) {
      respond = (response) => sendNdjson(response, lines(1, 3), members);
      const file = newFile();
      const { code, err } = await exported("--out", file);
      expect([code, err]).toEqual([1, expect.stringContaining(what)]);
      expect(existsSync(file)).toBe(false);
    }
    respond = (response) => sendNdjson(response, lines(1, 3), { unreadable: 2 });
    const { code, err } = await exported("--out", newFile());
    expect([code, err]).toEqual([1, expect.stringContaining("2 more could not be exported")]);
  });

  test("ends behind what the service has lost, and says how much that is", async () => {
    const requests: number[] = [];
    respond = (response, query) => {
      const after = Number(query.get("afterSeq"));
      requests.push(after);
      // A part that lacks entries and ends early, then one that lacks entries at the end.
      const members = { complete: false, until: 9, missing: after === 0 ? 2 : 3 };
      if (after === 0) sendNdjson(response, lines(1, 3), { ...members, through: 5 });
      else sendNdjson(response, lines(6, 6), { ...members, through: 9 });
    };
    const file = newFile();
    const { code, err } = await exported("--out", file);
    expect([code, err]).toEqual([1, expect.stringContaining("5 entries are missing: the service has lost them.")]);
    expect(requests).toEqual([0, 5]);
    const last = readFileSync(file, "utf8").split("\n").at(-2) ?? "";
    expect(JSON.parse(last).manifest).toMatchObject({ count: 4, through: 9, complete: false, missing: 5 });
  });

  test("writes each response in Parquet to a file, after its SHA-256 was verified", async () => {
    respond = (response, _, number) => {
      if (number === 1) {
        response.writeHead(200, { "Content-Type": "application/vnd.apache.parquet" });
        response.write("PAR1 half", () => setTimeout(() => response.destroy(), 50));
      } else if (number === 2)
        sendParquet(response, "PAR1 first", { through: 70, complete: false, lastSeq: 70, count: 70 });
      else sendParquet(response, "PAR1 second", { through: 90, firstSeq: 71, lastSeq: 90, count: 20 });
    };
    const file = newFile("parquet");
    const second = file.replace(".parquet", "-2.parquet");
    const { code, err, out } = await exported("--out", file, "--json");
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`90 entries exported, seq 1 to 90 to ${file}, ${second}.`),
    ]);
    expect(requests).toEqual([0, 0, 70]);
    expect([readFileSync(file, "latin1"), readFileSync(second, "latin1")]).toEqual([
      expect.stringMatching(/^PAR1 first/),
      expect.stringMatching(/^PAR1 second/),
    ]);
    expect(
      out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).manifest.through),
    ).toEqual([70, 90]);

    respond = (response) => sendParquet(response, "PAR1 bad", { sha256: "1".repeat(64) });
    const bad = newFile("parquet");
    expect(await exported("--out", bad)).toMatchObject({ code: 1, err: expect.stringContaining("SHA-256 differs") });
    expect([existsSync(bad), existsSync(`${bad}.partial`)]).toEqual([false, false]);
  });

  test("stops on Ctrl-C, says how to continue, and never overwrites what another export has received", async () => {
    respond = (response) => {
      response.writeHead(200, { "Content-Type": "application/x-ndjson" });
      response.write(lines(1, 20));
    };
    const file = newFile();
    const env = { TAFFRAIL_URL: url, TAFFRAIL_API_KEY: "sk_test", TAFFRAIL_PROJECT: "proj_a" };
    const program = start(["export", "--out", file], env);
    await program.until(
      () => existsSync(`${file}.partial`) && readFileSync(`${file}.partial`, "utf8") === lines(1, 20),
    );
    program.child.kill("SIGINT");
    const { code, err } = await program.ended;
    expect([code, err]).toEqual([
      1,
      `Stopped. To continue: --after-seq 20. What was received is in ${file}.partial.\n`,
    ]);
    const again = await exported("--out", file, "--after-seq", "20");
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining("exists") });
    expect(readFileSync(`${file}.partial`, "utf8")).toBe(lines(1, 20));
  });

  test("ends with the exit codes of the other commands", async () => {
    respond = (response) => {
      response.writeHead(403, { "Content-Type": "application/json" });
      response.end('{"success":false,"error":{"code":"INSUFFICIENT_SCOPE","message":"The key lacks logs:read."}}');
    };
    expect(await exported()).toMatchObject({ code: 3, err: expect.stringContaining("(403 INSUFFICIENT_SCOPE)") });
    expect(
      await run(["export", "--project", "p", "--url", "http://127.0.0.1:9"], { TAFFRAIL_API_KEY: "sk_a" }),
    ).toMatchObject({ code: 3, err: expect.stringContaining("No answer from http://127.0.0.1:9") });
    for (const [args, what] of [
      [["--format", "csv"], "must be ndjson or parquet"],
      [["--format", "parquet"], "needs --out"],
      [["--from", "1h", "--to", "2h"], "is not after --from"],
      [["--after-seq", "-1"], "after-seq"],
      [["--limit", "5"], "Unknown option --limit"],
    ] as const) {
      expect(await exported(...args)).toMatchObject({ code: 2, err: expect.stringContaining(what) });
    }
    const taken = newFile();
    writeFileSync(`${taken}.partial`, "");
    expect((await exported("--out", path.join(folder, "missing", "x.ndjson"))).code).not.toBe(0);
  });
});
