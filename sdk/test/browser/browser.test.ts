import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startChromium } from "../../../test/support/chromium.ts";
import type { createLogger } from "../../src/browser/index.ts";
import type { LogEntry } from "../../src/types.ts";
import { sleep } from "../support/sink.ts";
import { type Site, startSite } from "./site.ts";

declare global {
  var Taffrail: { createLogger: typeof createLogger };
  var logger: ReturnType<typeof createLogger>;
}

let browser: Browser;
let context: BrowserContext | undefined;
let site: Site | undefined;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());
afterEach(async () => {
  await context?.close();
  await site?.close();
  context = site = undefined;
});

/** The members that every entry of a page has. */
const PLACE = { url: expect.stringMatching(/^http:/), userAgent: expect.stringContaining("Chrome") };

type Options = Partial<Parameters<typeof createLogger>[0]>;

async function open(options: Options = {}): Promise<Page> {
  context ??= await browser.newContext();
  const page = await context.newPage();
  await visit(page, options);
  return page;
}

async function visit(page: Page, options: Options = {}): Promise<void> {
  await page.goto(`${site?.url}/`);
  await page.evaluate((options) => {
    globalThis.logger = Taffrail.createLogger({ url: "/logs", ...options });
  }, options);
}

/** Logs `count` entries numbered from `from` in one turn, each of about `bytes` bytes. */
const logMany = (page: Page, count: number, from = 0, bytes = 200): Promise<void> =>
  page.evaluate(
    ([count, from, bytes]) => {
      for (let n = from; n < from + count; n++) logger.info("entry", { n, text: randomText(bytes) });
      // Random, so that it does not compress.
      function randomText(length: number): string {
        let text = "";
        while (text.length < length) text += Math.random().toString(36).slice(2);
        return text.slice(0, length);
      }
    },
    [count, from, bytes] as const,
  );

function expectAll(entries: readonly LogEntry[], count: number): void {
  const numbers = entries.map(({ data }) => Number(data?.n)).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n));
}

test("delivers entries through the proxy with the tab's session and their source", async () => {
  site = await startSite();
  const page = await open({ defaultMeta: { release: "1.2" } });
  await page.evaluate(async () => {
    logger.info("hello", { a: 1, password: "hunter2" });
    logger.http.request("GET /x");
    logger.ai.toolCall("tool");
    logger.error(new Error("broken", { cause: new TypeError("inner") }));
    await logger.flush();
  });
  await visit(page);
  await page.evaluate(async () => {
    logger.warn("second page");
    await logger.flush();
  });
  const entries = await site.stored(5);
  expect(entries.map(({ level, category, type, message }) => `${level} ${category}/${type} ${message}`)).toEqual([
    "info custom/log hello",
    "info http/request GET /x",
    "info ai/tool-call tool",
    "error custom/log broken",
    "warn custom/log second page",
  ]);
  expect(entries[0]?.data).toEqual({ release: "1.2", a: 1, password: "[REDACTED]", source: "browser", ...PLACE });
  expect(entries[3]?.data?.error).toMatchObject({ name: "Error", cause: { name: "TypeError", message: "inner" } });
  expect(new Set(entries.map(({ session }) => session)).size).toBe(1);
  expect(site.sink.seen.every(({ headers }) => headers.authorization === "Bearer sk_server_0123456789")).toBe(true);
});

test.each([
  [1, 200],
  [40, 500],
  [60, 1000],
  [500, 300],
  [20, 9800],
])("%i entries of %i bytes arrive although the tab is closed at once", async (count, bytes) => {
  site = await startSite();
  const page = await open();
  await logMany(page, count, 0, bytes);
  await page.close();
  expectAll(await site.stored(count), count);
  expect(Math.max(...site.sizes)).toBeLessThanOrEqual(60_000);
});

test("delivers entries once if the page navigates away, and if it comes back", async () => {
  site = await startSite();
  const page = await open();
  await logMany(page, 400, 0, 400);
  await page.goto("about:blank");
  expectAll(await site.stored(400), 400);
  await page.goBack();
  await visit(page);
  await sleep(500);
  expectAll(site.sink.stored(), 400);
});

test.each([
  [
    "fails",
    () => {
      const { fetch } = window;
      window.fetch = (input, init) => (init?.keepalive ? Promise.reject(new TypeError("no room")) : fetch(input, init));
    },
  ],
  [
    "is not known",
    () => {
      Reflect.deleteProperty(Request.prototype, "keepalive");
      const { fetch } = window;
      // Such a browser aborts the requests of a page that closes.
      window.fetch = (input, init) => (init?.keepalive ? new Promise(() => {}) : fetch(input, init));
    },
  ],
])("where keepalive %s, a beacon takes what a closing tab has, once", async (_, spoil) => {
  site = await startSite();
  const page = await open();
  await page.evaluate(spoil);
  await logMany(page, 30);
  await page.close();
  expectAll(await site.stored(30), 30);
  expect(site.beacons()).toBe(1);
  // The batch is still in the store, because a beacon gets no answer. The service recognizes its repetition by the next page.
  const next = await open();
  await next.waitForFunction(() => localStorage.length === 0);
  expectAll(site.sink.stored(), 30);
});

test("sends immediately if the tab is hidden", async () => {
  site = await startSite();
  const page = await open();
  await page.evaluate(() => {
    logger.info("entry", { n: 0 });
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  expectAll(await site.stored(1), 1);
});

test("sends entries of offline time when the network is back", async () => {
  site = await startSite();
  const page = await open();
  await context?.setOffline(true);
  await logMany(page, 120);
  await sleep(300);
  expect(site.sizes).toEqual([]);
  expect(await page.evaluate(() => logger.stats())).toMatchObject({ delivered: 0, dropped: 0, pending: 120 });
  await context?.setOffline(false);
  expectAll(await site.stored(120), 120);
  expect(await page.evaluate(() => logger.stats())).toMatchObject({ delivered: 120, dropped: 0, pending: 0 });
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
});

test("sends entries of a tab that was offline once from the next tab", async () => {
  site = await startSite();
  const page = await open();
  await context?.setOffline(true);
  await logMany(page, 120);
  await page.close();
  await context?.setOffline(false);
  const next = await open();
  expectAll(await site.stored(120), 120);
  expect(site.sink.storedTwice()).toBe(120);
  await next.waitForFunction(() => localStorage.length === 0);
});

test("sends the entries of two offline tabs from their own tabs", async () => {
  site = await startSite();
  const [one, two] = [await open(), await open()];
  await context?.setOffline(true);
  await logMany(one, 100);
  await logMany(two, 100, 100);
  await context?.setOffline(false);
  expectAll(await site.stored(200), 200);
  expect(site.sink.storedTwice()).toBe(200);
  expect(await one.evaluate(() => logger.stats())).toMatchObject({ delivered: 100, dropped: 0, pending: 0 });
  expect(await two.evaluate(() => logger.stats())).toMatchObject({ delivered: 100, dropped: 0, pending: 0 });
});

test("delivers entries of a closed tab once if three tabs start together", async () => {
  site = await startSite();
  const gone = await open();
  await context?.setOffline(true);
  await logMany(gone, 500, 0, 400);
  await gone.close();
  await context?.setOffline(false);
  await Promise.all([open(), open(), open()]);
  expectAll(await site.stored(500), 500);
  // One of the three tabs sends it once. The last request of the closed page may arrive too, because it outlives the page
  // and its offline state; the service does not store it again, because the key is the same.
  expect(site.sink.storedTwice()).toBeLessThanOrEqual(1000);
});

test("repeats a request with the same key if its answer is lost", async () => {
  site = await startSite((_, number) => (number === 0 ? "cut" : { status: 201 }));
  const page = await open({ batch: { backoffBase: 10 } });
  await logMany(page, 10);
  const result = await page.evaluate(() => logger.flush());
  expect(result).toEqual({ delivered: 10, dropped: 0, pending: 0 });
  expectAll(site.sink.stored(), 10);
  expect(new Set(site.sink.seen.map(({ id }) => id)).size).toBe(1);
});

test("pauses after 429 without counting a retry, and drops refused and too large batches with a reason", async () => {
  const replies = [
    { status: 429, headers: { "Retry-After": "1" } },
    { status: 429, headers: { "Retry-After": "1" } },
    { status: 201, body: { data: { rejected: [{ index: 1 }] } } },
    { status: 413 },
    { status: 201 },
    { status: 413 },
    { status: 400 },
  ];
  site = await startSite((_, number) => replies[number] ?? { status: 201 });
  const page = await open({ batch: { maxRetries: 0 } });
  const drops = await page.evaluate(async () => {
    const drops: string[] = [];
    const logger = Taffrail.createLogger({
      url: "/logs",
      batch: { maxRetries: 0 },
      onDrop: (entries, reason) => drops.push(`${reason}: ${entries.map(({ message }) => message)}`),
    });
    for (const message of ["a", "b", "c"]) logger.info(message);
    await logger.flush();
    for (const message of ["d", "e"]) logger.info(message);
    await logger.flush();
    logger.info("f");
    await logger.flush();
    return drops;
  });
  expect(drops).toEqual(["rejected: b", "too-large: e", "rejected: f"]);
});

test("bounds the queue, keeps the deadline of flush, and never throws", async () => {
  site = await startSite(() => null);
  const page = await open();
  const seen = await page.evaluate(async () => {
    const drops: string[] = [];
    const logger = Taffrail.createLogger({
      url: "/logs",
      batch: { maxQueueBytes: 10_000 },
      onDrop: (entries, reason) => {
        drops.push(...entries.map(() => reason));
        throw new Error("a callback's own");
      },
    });
    const circular: Record<string, unknown> = { big: 1n, f() {}, s: Symbol("s"), m: new Map([["Password", "x"]]) };
    circular.self = circular;
    const odd = [
      circular,
      {
        get a() {
          throw new Error("getter");
        },
        b: 1,
      },
      {
        toJSON() {
          throw new Error("toJSON");
        },
      },
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("trap");
          },
        },
      ),
      new Date(Number.NaN),
      null,
      5,
      new Uint8Array(10),
      document.body,
      window,
    ];
    for (const data of odd) {
      // @ts-expect-error: on purpose, whatever the types say.
      logger.info(data, data);
    }
    for (let n = 0; n < 200; n++) logger.info("x".repeat(100));
    const before = performance.now();
    const result = await logger.flush({ timeoutMs: 100 });
    return { drops: drops.length, result, took: performance.now() - before };
  });
  expect(seen.drops).toBeGreaterThan(100);
  expect(seen.result.pending + seen.result.dropped).toBeLessThanOrEqual(210);
  expect(seen.result.delivered).toBe(0);
  expect(seen.took).toBeLessThan(1000);
});

test("loses no entry to a proxy without answers, and sends others beside a batch that is too large to outlive the page", async () => {
  site = await startSite();
  const page = await open();
  await page.evaluate(async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    logger.info("revoked", proxy);
    // Six bytes each.
    logger.info("\u0001".repeat(16_000));
    logger.info("after");
    await logger.flush({ timeoutMs: 5000 });
  });
  const messages = (await site.sink.stored()).map(({ message }) => message.slice(0, 20));
  expect(messages).toContain("revoked");
  expect(messages).toContain("after");
  expect(await page.evaluate(() => logger.stats().pending)).toBe(0);
});

test("sets no timer that fires immediately for an infinite interval", async () => {
  site = await startSite();
  const page = await open();
  const timers = await page.evaluate(async () => {
    const { setTimeout: original } = globalThis;
    let timers = 0;
    // SAFETY: the replacement has the same signature.
    globalThis.setTimeout = ((...of: Parameters<typeof setTimeout>) => {
      timers++;
      return original(...of);
    }) as typeof setTimeout;
    Taffrail.createLogger({ url: "/logs", batch: { flushInterval: Number.POSITIVE_INFINITY } }).info("waits");
    await new Promise((resolve) => original(resolve, 300));
    return timers;
  });
  expect(timers).toBeLessThan(5);
});

test("keeps entries in memory in a page without a store", async () => {
  site = await startSite();
  context = await browser.newContext();
  await context.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(globalThis, name, {
        get() {
          throw new DOMException("denied", "SecurityError");
        },
      });
    }
  });
  const page = await open();
  await logMany(page, 100);
  await page.close();
  expectAll(await site.stored(100), 100);
});

test("drops, counts and reports the entry of a beforeSend that throws", async () => {
  site = await startSite();
  const page = await open();
  const seen = await page.evaluate(async () => {
    const reported: string[] = [];
    const logger = Taffrail.createLogger({
      url: "/logs",
      beforeSend(entry) {
        if (entry.message === "private") throw new Error("no");
        return entry.message === "unwanted" ? null : entry;
      },
      onError: (error) => reported.push(error.message),
      onDrop: (entries, reason) => reported.push(`${reason}: ${entries.map(({ message }) => message)}`),
    });
    for (const message of ["private", "unwanted", "kept"]) logger.info(message);
    await logger.flush();
    return { reported, stats: logger.stats() };
  });
  expect(seen).toEqual({
    reported: ["no", "before-send: private"],
    stats: expect.objectContaining({ logged: 1, filtered: 1, delivered: 1, dropped: 1, pending: 0 }),
  });
  expect((await site.stored(1)).map(({ message }) => message)).toEqual(["kept"]);
});

test("calls no callback from within a callback", async () => {
  site = await startSite();
  const page = await open();
  const seen = await page.evaluate(async () => {
    const reported: string[] = [];
    const logger = Taffrail.createLogger({
      url: "/logs",
      batch: { maxQueueBytes: 4000 },
      beforeSend(entry) {
        logger.warn("seen one");
        return entry;
      },
      onDrop(entries, reason) {
        reported.push(reason);
        for (const _ of entries) logger.info("dropped one");
      },
      onError(error) {
        reported.push(error.message);
        logger.error("failed");
      },
    });
    for (let n = 0; n < 20; n++) logger.info(`entry ${n}`, { text: "x".repeat(300) });
    await logger.flush();
    return { reported: [...new Set(reported)].sort(), calls: reported.length, pending: logger.stats().pending };
  });
  // Entries logged in the hook are dropped without a report, because the hook cannot be called for them.
  expect(seen.reported).toEqual(["queue-full"]);
  expect(seen.calls).toBeLessThan(20);
  expect(seen.pending).toBe(0);
  const stored = await site.stored(1);
  expect(stored.every(({ message }) => message.startsWith("entry "))).toBe(true);
});

test("retries and reports all batches if a custom backoff throws", async () => {
  site = await startSite();
  const page = await open();
  const seen = await page.evaluate(async () => {
    // An answer without `Retry-After`.
    window.fetch = async () => new Response("", { status: 503 });
    const drops: string[] = [];
    const logger = Taffrail.createLogger({
      url: "/logs",
      batch: {
        maxRetries: 2,
        backoffBase: 10,
        backoff() {
          throw new Error("no");
        },
      },
      onDrop: (_, reason) => drops.push(reason),
    });
    logger.info("entry");
    await logger.flush();
    return { drops, stats: logger.stats() };
  });
  expect(seen).toMatchObject({ drops: ["retries"], stats: { delivered: 0, dropped: 1, pending: 0 } });
});

test("keeps the other fields beside one that throws, and uses the logger's session", async () => {
  site = await startSite();
  const page = await open({ defaultMeta: { session: "s1" } });
  const named = await page.evaluate(async () => {
    const list = Object.defineProperty([1, 2, 3], 1, {
      get() {
        throw new Error("no");
      },
    });
    logger.error(new Error("one"), new TypeError("two"));
    logger.info("lists", [4, list]);
    const child = logger.child({ session: "s2" });
    child.info("child");
    await logger.flush();
    return [logger.sessionId, child.sessionId];
  });
  expect(named).toEqual(["s1", "s2"]);
  const [errors, lists, child] = await site.stored(3);
  expect(errors?.data).toMatchObject({ error: { message: "one" }, error2: { name: "TypeError", message: "two" } });
  expect(lists?.data).toEqual({ value: [4, [1, "[Throws]", 3]], source: "browser", ...PLACE });
  expect([errors?.session, child?.session]).toEqual(named);
});

test("masks secrets anywhere in an entry before it leaves the page", async () => {
  site = await startSite();
  const page = await open({ redact: ["pinCode"] });
  await page.evaluate(async () => {
    logger.info("login with password=hunter2-a and Bearer hunter2-b0", {
      Password: "hunter2-c",
      deep: [{ api_key: "hunter2-d", "X-Api-Key": 5, maxTokens: 512 }],
      map: new Map([["accessToken", "hunter2-e"]]),
      headers: new Headers({ Authorization: "Bearer hunter2-f0" }),
      pairs: [["cookie", "hunter2-g"]],
      query: new URLSearchParams("token=hunter2-h&page=2"),
      url: new URL("https://user:hunter2-i@shop.example/?secret=hunter2-j"),
      json: '{"password":"hunter2-k"}',
      escaped: '{"pass\\u0077ord":"hunter2-p","list":[1]}',
      error: Object.assign(new Error("token=hunter2-l"), { secret: "hunter2-m" }),
      pin_code: "hunter2-n",
    });
    const child = logger.child({ secret: "hunter2-o", area: "cart" });
    child.info("in a child");
    await logger.flush();
  });
  const entries = await site.stored(2);
  expect(JSON.stringify(entries)).not.toContain("hunter2");
  expect(entries[0]?.data).toMatchObject({ deep: [{ maxTokens: 512 }], query: { page: "2" } });
  expect(entries[1]?.data).toEqual({ secret: "[REDACTED]", area: "cart", source: "browser", ...PLACE });
});

test("10: a page's logger has the behavior of every logger", async () => {
  site = await startSite();
  const page = await open();
  const seen = await page.evaluate(async () => {
    const logger = Taffrail.createLogger({
      url: "/logs",
      sampling: { overrides: { warn: 0 } },
      excludeCategories: ["cache"],
      defaultMeta: { area: "root", who: "root" },
      beforeSend: (entry) => (entry.message === "unwanted" ? null : entry),
    });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const inner = logger.withContext({ who: "context", requestId: "r1" }, () => {
      logger.info("in the context");
      logger.child({ who: "child" }).info("in a child");
      return 7;
    });
    logger.child({ traceparent }).info("behind it");
    logger.warn("sampled out");
    logger.info("unwanted");
    const waiting = logger.stats();
    const explained = [
      logger.explain("debug"),
      logger.category("cache").explain("info"),
      logger.explain("warn"),
      logger.explain("info", "unwanted"),
      logger.explain("info", "wanted"),
    ].map(({ sent, step }) => `${step}: ${sent}`);
    const closed = await logger.close();
    logger.info("too late");
    return { inner, waiting, explained, closed, stats: logger.stats(), entries: logger.entries };
  });
  expect(seen).toEqual({
    inner: 7,
    waiting: expect.objectContaining({ logged: 3, sampledOut: 1, filtered: 1, pending: 3 }),
    explained: ["level: false", "category: false", "sampling: false", "beforeSend: false", "transport: true"],
    closed: { delivered: 3, dropped: 0, pending: 0 },
    stats: {
      logged: 3,
      sampledOut: 1,
      filtered: 1,
      delivered: 3,
      dropped: 1,
      pending: 0,
      pendingBytes: 0,
      requests: 1,
      retries: 0,
      spooled: 0,
    },
    entries: [],
  });
  expect(seen.waiting.pendingBytes).toBeGreaterThan(300);
  const source = "browser";
  expect(await site.stored(3)).toMatchObject([
    { message: "in the context", data: { area: "root", who: "context", requestId: "r1", source } },
    { message: "in a child", data: { area: "root", who: "child", requestId: "r1", source } },
    { message: "behind it", traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" },
  ]);
});
