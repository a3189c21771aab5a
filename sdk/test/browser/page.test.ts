import { once } from "node:events";
import { createServer as createNodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startChromium } from "../../../test/support/chromium.ts";
import { webHandler } from "../../src/adapters/web-handler.ts";
import type { BrowserLoggerOptions, createLogger } from "../../src/browser/index.ts";
import { createProxy } from "../../src/proxy/index.ts";
import { type Site, startSite } from "./site.ts";

declare global {
  var Taffrail: { createLogger: typeof createLogger };
  var logger: ReturnType<typeof createLogger>;
}

let browser: Browser;
let context: BrowserContext | undefined;
let site: Site | undefined;
let vite: ViteDevServer | undefined;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());
afterEach(async () => {
  await context?.close();
  await vite?.close();
  await site?.close();
  context = site = vite = undefined;
});

/** Opens a page. @returns the page, and the library's messages on its console */
async function open(
  url: string,
  options: Partial<BrowserLoggerOptions> = {},
): Promise<{ page: Page; reported: string[] }> {
  context ??= await browser.newContext({ userAgent: "Test Browser/1.0" });
  const page = await context.newPage();
  const reported: string[] = [];
  page.on("console", (message) => {
    if (message.text().startsWith("taffrail")) reported.push(message.text());
  });
  await page.goto(url);
  await page.evaluate((options) => {
    globalThis.logger = Taffrail.createLogger({ url: "/logs", ...options });
  }, options);
  return { page, reported };
}

/** Starts Vite's development server with the page, and the application behind it that receives the logs. */
async function startVite(origins: (origin: string) => { origins?: string[] }): Promise<string> {
  site = await startSite();
  let handler: ReturnType<typeof webHandler> | undefined;
  const backend = createNodeServer((request, response) => handler?.(request, response)).listen(0, "127.0.0.1");
  await once(backend, "listening");
  // SAFETY: it listens on a port.
  const { port } = backend.address() as AddressInfo;
  vite = await createServer({
    configFile: false,
    root: import.meta.dirname,
    logLevel: "silent",
    optimizeDeps: { noDiscovery: true },
    // The short form of Vite's documentation, which changes the host.
    server: { host: "127.0.0.1", port: 0, ws: false, proxy: { "/logs": `http://127.0.0.1:${port}` } },
    plugins: [
      {
        name: "page",
        configureServer: ({ middlewares }) => {
          middlewares.use(async (request, response, next) => {
            const isOurs = request.url === "/" || request.url === "/script.js";
            if (!isOurs) return next();
            const answer = await fetch(`${site?.url}${request.url}`);
            response.setHeader("Content-Type", answer.headers.get("content-type") ?? "");
            response.end(await answer.text());
          });
        },
      },
    ],
  });
  await vite.listen();
  vite.httpServer?.once("close", () => backend.close());
  // SAFETY: it listens on a port.
  const own = vite.httpServer?.address() as AddressInfo;
  const url = `http://127.0.0.1:${own.port}`;
  handler = webHandler(
    createProxy({ apiUrl: site.sink.url, projectId: "proj_web", apiKey: "sk_server_0123456789", ...origins(url) }),
  );
  return url;
}

test("14: Vite's dev proxy gets 403, which the console reports once with what to do", async () => {
  const { page, reported } = await open(await startVite(() => ({})));
  for (let n = 0; n < 3; n++) {
    await page.evaluate(async () => {
      logger.info("lost");
      await logger.flush();
    });
  }
  expect(reported).toHaveLength(1);
  expect(reported[0]).toMatch(/^taffrail: The proxy answered 403: .*Vite.*createProxy\(\{ origins \}\)/);
  expect(site?.sink.stored()).toEqual([]);
});

test("14: entries arrive if the origin of Vite's server is allowed", async () => {
  const { page, reported } = await open(await startVite((origin) => ({ origins: [origin] })));
  await page.evaluate(async () => {
    logger.info("arrives");
    await logger.flush();
  });
  expect((await site?.stored(1))?.map(({ message }) => message)).toEqual(["arrives"]);
  expect(reported).toEqual([]);
});

test("11: a page in place of the proxy delivers nothing, and is reported once", async () => {
  site = await startSite();
  const { page, reported } = await open(`${site.url}/`, {
    url: "/elsewhere",
    batch: { maxRetries: 1, backoffBase: 1 },
  });
  const result = await page.evaluate(async () => {
    logger.info("lost");
    return logger.flush();
  });
  expect(result).toEqual({ delivered: 0, dropped: 1, pending: 0 });
  expect(reported).toEqual(["taffrail: The proxy answered 200: check url"]);
});

test("14: a full queue in a page is reported once, and flush counts all that it dropped", async () => {
  site = await startSite();
  const { page, reported } = await open(`${site.url}/`, { batch: { maxQueueBytes: 2000 } });
  const result = await page.evaluate(async () => {
    for (let n = 0; n < 50; n++) logger.info("x".repeat(100));
    return logger.flush();
  });
  expect(result.dropped).toBeGreaterThan(30);
  expect(result).toMatchObject({ delivered: 50 - result.dropped, pending: 0 });
  expect(reported).toEqual(["taffrail: 1 dropped: queue-full"]);
});

test("14: browser entries carry URL and user agent with secrets masked; fields of the call win", async () => {
  site = await startSite();
  const { page } = await open(`${site.url}/?token=abc&tab=1`, { service: "shop", version: "1.2", environment: "test" });
  await page.evaluate(async () => {
    logger.info("a");
    history.pushState(null, "", "/orders");
    logger.child({ url: "mine" }).info("b");
    logger.info("c", { userAgent: "mine" });
    await logger.flush();
  });
  const entries = await site.stored(3);
  const all = {
    userAgent: "Test Browser/1.0",
    service: "shop",
    version: "1.2",
    environment: "test",
    source: "browser",
  };
  expect(entries.map(({ data }) => data)).toEqual([
    { ...all, url: `${site.url}/?token=[REDACTED]&tab=1` },
    { ...all, url: "mine" },
    { ...all, url: `${site.url}/orders`, userAgent: "mine" },
  ]);
});

test.each([true, false])(
  "14: window.onerror and unhandled rejections are logged with captureErrors: %s",
  async (captureErrors) => {
    site = await startSite();
    const { page } = await open(`${site.url}/`, { captureErrors });
    await page.evaluate(async () => {
      setTimeout(() => {
        throw new RangeError("thrown");
      });
      Promise.reject(new TypeError("rejected"));
      Promise.reject("a text");
      await new Promise((resolve) => setTimeout(resolve, 100));
      logger.info("last");
      await logger.flush();
    });
    const entries = await site.stored(captureErrors ? 4 : 1);
    const said = entries.map(({ level, category, type, message }) => `${level} ${category}/${type} ${message}`).sort();
    expect(said).toEqual(
      captureErrors
        ? [
            "error system/error Uncaught RangeError: thrown",
            "error system/error Unhandled rejection: a text",
            "error system/error Unhandled rejection: rejected",
            "info custom/log last",
          ]
        : ["info custom/log last"],
    );
    const thrown = entries.find(({ message }) => message.includes("thrown"))?.data;
    if (captureErrors)
      expect(thrown).toMatchObject({
        error: { name: "RangeError", stack: expect.any(String) },
        at: expect.stringMatching(/:\d+:\d+$/),
      });
  },
);

test("12, 13: a page's logger has levels at run time, silent, isLevelEnabled, aliases, and pino's order", async () => {
  site = await startSite();
  const { page } = await open(`${site.url}/`);
  const reported = await page.evaluate(async () => {
    const child = logger.child({ n: 1 });
    const results = [child.isLevelEnabled("debug"), Reflect.get(logger, "bindings")];
    child.debug("closed");
    logger.level = "debug";
    child.debug("open");
    child.level = "silent";
    child.fatal("closed");
    logger.child({}, { level: "error" }).info("closed");
    logger.silent("closed");
    Reflect.set(logger, "level", "loud");
    logger.notice("alias");
    logger.warning({ user: 7 }, "order");
    logger.child({}, { serializers: { a: (value: number) => value + 1 } }).info("serialized", { a: 1 });
    results.push(logger.level, child.level, child.isLevelEnabled("fatal"), logger.isLevelEnabled("debug"));
    await logger.flush();
    return results;
  });
  expect(reported).toEqual([false, undefined, "debug", "silent", false, true]);
  const entries = await site.stored(4);
  expect(entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "debug open",
    "info alias",
    "warn order",
    "info serialized",
  ]);
  expect(entries[2]?.data).toMatchObject({ user: 7 });
  expect(entries[3]?.data).toMatchObject({ a: 2 });
});

test("15: a page's createLogger names the missing option, and reports a misspelt one", async () => {
  site = await startSite();
  const { page, reported } = await open(`${site.url}/`);
  const message = await page.evaluate(() => {
    const make: (options?: object) => unknown = (options) => Reflect.apply(Taffrail.createLogger, undefined, [options]);
    make({ url: "/logs", Level: "info" });
    make({ url: "/logs", Level: "info" });
    try {
      return make();
    } catch (error) {
      return `${error}`;
    }
  });
  expect(message).toBe("TypeError: taffrail: missing url, the route of taffrail/proxy");
  expect(reported).toHaveLength(1);
  expect(reported[0]).toMatch(/^taffrail: unknown option "Level"; there are url, level, /);
});
