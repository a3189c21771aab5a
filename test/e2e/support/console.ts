import axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { startBothProviders } from "../../../scripts/providers/both.ts";
import type { Account } from "../../support/api.ts";
import { startChromium } from "../../support/chromium.ts";
import { freePort, type ServerOptions, startServer, type TestServer } from "../../support/server.ts";

/** A real server and a real browser, and what went wrong on any of its pages. */
export interface ConsoleUnderTest {
  server: TestServer;
  browser: Browser;
  /** A browser context of its own: nobody is signed in there, unless `as` names who is. */
  open(options?: BrowserContextOptions & { as?: Account }): Promise<BrowserContext>;
  /** Uncaught errors, messages of the policy, and requests to any other origin, from all pages so far. */
  faults(): string[];
  close(): Promise<void>;
}

export async function startConsole(options: ServerOptions = {}): Promise<ConsoleUnderTest> {
  const [server, browser] = await Promise.all([startServer(options), startChromium()]);
  const faults: string[] = [];
  return {
    server,
    browser,
    async open({ as, ...contextOptions } = {}) {
      const context = await browser.newContext({ baseURL: server.url, ...contextOptions });
      context.on("weberror", (error) => faults.push(`uncaught: ${error.error().message}`));
      context.on("console", (message) => {
        if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
      });
      context.on("request", (request) => {
        const { origin, protocol } = new URL(request.url());
        if (origin !== server.url && !["data:", "blob:"].includes(protocol)) faults.push(`contacted ${origin}`);
      });
      if (as) await context.addInitScript(signInOnce, sessionOf(as));
      return context;
    },
    faults: () => faults,
    async close() {
      await browser.close();
      await server.stop();
    },
  };
}

/** The same with both providers set up; requests to them are no faults. */
export async function startConsoleWithProviders(): Promise<ConsoleUnderTest> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const providers = await startBothProviders({ baseUrl, host: "127.0.0.1", ports: [0, 0] });
  const console = await startConsole({ env: { PORT: String(port), ...providers.settings } });
  const allowed = [providers.a.url, providers.b.url].map((origin) => `contacted ${origin}`);
  return {
    ...console,
    faults: () => console.faults().filter((fault) => !allowed.includes(fault)),
    async close() {
      await console.close();
      await providers.close();
    },
  };
}

interface Seed {
  session: string;
  access: string;
}

/** What the console keeps of somebody who has just signed in; see web/src/session/stored.ts. */
function sessionOf({ userId, email, refreshToken, accessToken }: Account): Seed {
  return {
    session: JSON.stringify({ id: "seeded", refreshToken, user: { id: userId, email }, retryKey: null }),
    access: JSON.stringify({ token: accessToken, until: Date.now() + 14 * 60_000, session: "seeded" }),
  };
}

/** Runs in the page, before its own scripts, at every load: only the first one of a context signs in. */
function signInOnce({ session, access }: Seed): void {
  // Before the first navigation there is a blank page, which has no storage.
  if (location.protocol === "about:" || localStorage.getItem("test.signed-in") !== null) return;
  localStorage.setItem("test.signed-in", "yes");
  localStorage.setItem("taffrail.session", session);
  sessionStorage.setItem("taffrail.access", access);
}

/** By how many CSS pixels a page is wider than its window: above 0 it scrolls sideways. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** What axe-core finds on a page: each fault with the elements that have it. Empty is good. */
export async function axeFaults(page: Page): Promise<string[]> {
  // Through the driver's own channel: the page's policy lets no foreign script in, as it should.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // SAFETY: the line above put it there.
    const { axe } = globalThis as unknown as { axe: { run: (root: Document) => Promise<AxeResult> } };
    const { violations } = await axe.run(document);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });
}

interface AxeResult {
  violations: { id: string; nodes: { target: string[] }[] }[];
}
