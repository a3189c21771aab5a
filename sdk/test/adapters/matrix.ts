import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import type { CaptureOptions } from "../../src/capture/options.ts";
import { createLogger, type LogEntry, type Logger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";
import { sleep } from "../support/sink.ts";

/** A real server of a framework, with the routes of the matrix. */
export interface Peer {
  name: string;
  start(logger: Logger, options: CaptureOptions | undefined): Promise<Running>;
}

export interface Running {
  url: string;
  /** Errors that reached the framework's own error handling. */
  errors: unknown[];
  close(): Promise<void>;
}

/** The error of the route `/throws`, which must reach the framework as the same object. */
export const BOOM: Error = new Error("boom with password=hunter2");
/** The error of the route `/refused`. */
export const TEAPOT: Error = Object.assign(new Error("short and stout"), { status: 418, statusCode: 418 });
export const CHUNKS: readonly string[] = ["one ", "two ", "three"];
/** Milliseconds between two chunks. */
export const PAUSE_MS = 40;
/** Message that the route `/ok` logs after an `await`, with the root logger. */
export const INSIDE = "inside the handler";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

/** Defines the tests of the capture contract for one framework. */
export function matrix(peer: Peer): void {
  async function run(work: (running: Running, seen: Seen) => Promise<void>, options?: CaptureOptions): Promise<void> {
    const memory = memoryTransport();
    const logger = createLogger({ transport: memory });
    const running = await peer.start(logger, options);
    try {
      await work(running, seenBy(memory.entries));
    } finally {
      await running.close();
    }
  }

  describe(peer.name, () => {
    test("a request and its response are two entries with one trace", () =>
      run(async ({ url }, seen) => {
        const response = await fetch(`${url}/ok?a=1&b=2&b=3&token=abc`, {
          headers: { Authorization: "Bearer abcdef", Cookie: "sid=1", "X-Api-Key": "k", "X-Other": "seen" },
        });
        expect(await response.text()).toBe("ok");
        expect(response.headers.get("X-Response-Time")).toMatch(/^\d+(\.\d+)?ms$/);
        const [request, inside, answer] = await seen.atLeast(3);
        expect(request).toMatchObject({
          level: "info",
          category: "http",
          type: "request",
          message: "GET /ok",
          data: {
            method: "GET",
            path: "/ok",
            query: { a: "1", b: ["2", "3"], token: "[REDACTED]" },
            headers: {
              authorization: "[REDACTED]",
              cookie: "[REDACTED]",
              "x-api-key": "[REDACTED]",
              "x-other": "seen",
            },
          },
        });
        expect(request?.data).not.toHaveProperty("body");
        expect(inside).toMatchObject({ message: INSIDE });
        expect(answer).toMatchObject({
          level: "info",
          category: "http",
          type: "response",
          message: "GET /ok 200",
          data: { method: "GET", path: "/ok", status: 200, durationMs: expect.any(Number) },
        });
        expect(answer?.data).not.toHaveProperty("aborted");
        expect(request?.traceId).toMatch(/^[0-9a-f]{32}$/);
        expect(request?.spanId).toMatch(/^[0-9a-f]{16}$/);
        for (const entry of [inside, answer]) {
          expect(entry).toMatchObject({ traceId: request?.traceId, spanId: request?.spanId });
        }
      }));

    test("uses a traceparent, and keeps concurrent requests separate", () =>
      run(async ({ url }, seen) => {
        await Promise.all([
          fetch(`${url}/ok`, { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } }),
          fetch(`${url}/ok`, { headers: { traceparent: "00-nonsense" } }),
          fetch(`${url}/ok`),
        ]);
        const entries = await seen.atLeast(9);
        const traces = Map.groupBy(entries, ({ traceId }) => traceId);
        expect([...traces.values()].map((all) => all.map(({ message }) => message))).toEqual(
          Array(3).fill(["GET /ok", INSIDE, "GET /ok 200"]),
        );
        expect(traces.get(TRACE)?.map(({ spanId }) => spanId)).toEqual([SPAN, SPAN, SPAN]);
      }));

    test.each([
      ["/moved", 302, "info"],
      ["/missing", 404, "warn"],
    ])("%s is logged with status %i at %s", (path, status, level) =>
      run(async ({ url }, seen) => {
        const response = await fetch(url + path, { redirect: "manual" });
        expect(response.status).toBe(status);
        const [, answer] = await seen.atLeast(2);
        expect(answer).toMatchObject({ level, type: "response", data: { status } });
      }),
    );

    test("logs an error of a handler once, and passes it on to the framework unchanged", () =>
      run(async ({ url, errors }, seen) => {
        const response = await fetch(`${url}/throws`);
        expect(response.status).toBe(500);
        const entries = await seen.atLeast(3);
        expect(entries.map(({ level, category, type }) => `${level} ${category}/${type}`)).toEqual([
          "info http/request",
          "error system/error",
          "error http/response",
        ]);
        expect(entries[1]).toMatchObject({
          message: "GET /throws failed: boom with password=[REDACTED]",
          traceId: entries[0]?.traceId,
          data: { method: "GET", path: "/throws", error: { name: "Error", stack: expect.stringContaining("matrix") } },
        });
        expect(entries[2]).toMatchObject({ data: { status: 500 } });
        expect(errors).toEqual([BOOM]);
        expect(errors[0]).toBe(BOOM);
      }));

    test("logs an error with a 4xx status as a warning", () =>
      run(async ({ url }, seen) => {
        expect((await fetch(`${url}/refused`)).status).toBe(418);
        const [, failure, answer] = await seen.atLeast(3);
        expect(failure).toMatchObject({ level: "warn", category: "system", type: "error" });
        expect(answer).toMatchObject({ level: "warn", data: { status: 418 } });
      }));

    test("excluded paths and methods have no entries except those of their handlers", () =>
      run(async ({ url }, seen) => {
        for (const path of ["/health", "/ready", "/favicon.ico"]) await fetch(url + path);
        await fetch(`${url}/ok`, { method: "OPTIONS" });
        await fetch(`${url}/missing`);
        await seen.atLeast(2);
        expect(seen.places()).toEqual(["http/request /missing", "http/response /missing"]);
      }));

    test("a streamed response is logged when it ends", () =>
      run(async ({ url }, seen) => {
        const response = await fetch(`${url}/stream`);
        const reader = response.body?.getReader();
        await reader?.read();
        expect(seen.places()).toEqual(["http/request /stream"]);
        while (!(await reader?.read())?.done);
        const [, answer] = await seen.atLeast(2);
        expect(answer?.data).not.toHaveProperty("aborted");
        // The header has the time of the beginning, the entry that of the end; the stream takes the time between them.
        const begun = Number.parseFloat(response.headers.get("X-Response-Time") ?? "");
        expect(Number(answer?.data?.durationMs) - begun).toBeGreaterThanOrEqual(PAUSE_MS * (CHUNKS.length - 1) * 0.9);
      }));

    test("logs a response as aborted when the client disconnects", () =>
      run(async ({ url }, seen) => {
        const abort = new AbortController();
        const response = await fetch(`${url}/endless`, { signal: abort.signal });
        const reader = response.body?.getReader();
        await reader?.read();
        expect(seen.places()).toEqual(["http/request /endless"]);
        abort.abort();
        const [, answer] = await seen.atLeast(2);
        expect(answer).toMatchObject({ message: "GET /endless 200 aborted", data: { status: 200, aborted: true } });
      }));

    test("captures bodies if enabled, with secrets masked", () =>
      run(
        async ({ url }, seen) => {
          const sent = { user: "ada", password: "hunter2", nested: [{ Token: "t", pin_code: "9999", n: 5 }], ok: true };
          const response = await fetch(`${url}/echo`, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(sent),
          });
          expect(await response.json()).toEqual(sent);
          const entries = await seen.atLeast(2);
          const masked = {
            user: "ada",
            password: "[REDACTED]",
            nested: [{ Token: "[REDACTED]", pin_code: "[REDACTED]", n: 5 }],
            ok: true,
          };
          expect(entries.find(({ type }) => type === "request")?.data?.body).toEqual(masked);
          expect(entries.find(({ type }) => type === "response")?.data?.body).toEqual(masked);
        },
        { body: true, redactFields: ["pinCode"] },
      ));

    test("truncates a long body at the limit, only in the entry", () =>
      run(
        async ({ url }, seen) => {
          const sent = { text: "x".repeat(100_000) };
          const response = await fetch(`${url}/echo`, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(sent),
          });
          expect(await response.json()).toEqual(sent);
          const entries = await seen.atLeast(2);
          for (const { data } of entries) {
            expect(data?.bodyTruncated).toBe(true);
            expect(data?.body).toBe(JSON.stringify(sent).slice(0, 32_768));
          }
        },
        { body: true },
      ));

    test("a streamed body is captured as a whole", () =>
      run(
        async ({ url }, seen) => {
          await (await fetch(`${url}/stream`)).text();
          const [, answer] = await seen.atLeast(2);
          expect(answer?.data?.body).toBe(CHUNKS.join(""));
        },
        { body: true },
      ));

    test("every part can be turned off", () =>
      run(
        async ({ url }, seen) => {
          const response = await fetch(`${url}/ok?a=1`);
          expect(response.headers.has("X-Response-Time")).toBe(false);
          expect(response.headers.has("X-Took")).toBe(true);
          await fetch(`${url}/throws`);
          await fetch(`${url}/health`);
          await seen.atLeast(2);
          expect(seen.places()).toEqual(["custom/log", "http/request /health"]);
        },
        { responses: false, errors: false, excludePaths: [/^\/(ok|throws)$/g], timingHeader: "X-Took" },
      ));

    test("logs a response as aborted if the client disconnects before it begins", () =>
      run(async ({ url }, seen) => {
        const request = httpRequest(`${url}/slow`);
        request.on("error", () => {});
        request.end();
        await seen.atLeast(1);
        request.destroy();
        const [, answer] = await seen.atLeast(2);
        expect(answer).toMatchObject({ type: "response" });
      }));
  });
}

interface Seen {
  /** Waits for `count` entries. Fails if there is a surplus one a moment later. */
  atLeast(count: number): Promise<readonly LogEntry[]>;
  places(): string[];
}

function seenBy(entries: readonly LogEntry[]): Seen {
  return {
    async atLeast(count) {
      for (let waited = 0; entries.length < count && waited < 5000; waited += 10) await sleep(10);
      await sleep(30);
      expect(entries.map(({ message }) => message)).toHaveLength(count);
      return entries;
    },
    places: () =>
      entries.map(({ category, type, data }) => [`${category}/${type}`, data?.path].filter(Boolean).join(" ")),
  };
}
