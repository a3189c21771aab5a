import axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { startFirefox } from "../../browsers/playwright/firefox.ts";
import type { Account } from "../../support/api.ts";
import { startChromium } from "../../support/chromium.ts";
import { freePort, type ServerOptions, startServer, type TestServer } from "../../support/server.ts";
import { sharedServerUrl } from "../../support/shared-server-url.ts";

/** A real server and a real browser, with the faults of all pages. */
export interface ConsoleUnderTest {
  server: { readonly url: string };
  browser: Browser;
  /** A new browser context, signed out unless `as` is given. */
  open(options?: BrowserContextOptions & { as?: Account }): Promise<BrowserContext>;
  /**
   * A page in the state of a new context's, which the tests of a file use in turn and do not close: loading the console in
   * a new context takes twice the processor time. For tests that add no script to each load, leave the clock as it is and
   * do not count the steps of the history. One page for each account and time zone.
   */
  reuse(options?: ReuseOptions): Promise<Page>;
  /** Uncaught errors, policy violations and requests to other origins, from all pages so far. */
  faults(): string[];
  close(): Promise<void>;
}

export type ReuseOptions = { as?: Account } & Pick<
  BrowserContextOptions,
  "viewport" | "colorScheme" | "permissions" | "timezoneId" | "extraHTTPHeaders"
>;

/** A console whose server belongs to one test file, which may stop it. */
export interface OwnConsole extends ConsoleUnderTest {
  server: TestServer;
}

export async function startConsole(options: ServerOptions = {}): Promise<OwnConsole> {
  const [server, browser] = await Promise.all([startServer(options), startBrowser()]);
  const close = async (): Promise<void> => {
    await browser.close();
    await server.stop();
  };
  return { ...consoleOf(server, browser), server, close };
}

/** A console on the server that several test files share: see `test/support/shared-server.ts`. */
export async function startSharedConsole(): Promise<ConsoleUnderTest> {
  const [url, browser] = await Promise.all([sharedServerUrl(), startBrowser()]);
  return consoleOf({ url }, browser);
}

const isFirefox = process.env.TEST_BROWSER === "firefox";

/** Chromium, or Firefox under `npm run test:web:firefox`. */
function startBrowser(): Promise<Browser> {
  return isFirefox ? startFirefox() : startChromium();
}

function consoleOf(server: { readonly url: string }, browser: Browser): ConsoleUnderTest {
  const faults: string[] = [];
  const reused = new Map<string, Page>();
  const open: ConsoleUnderTest["open"] = async ({ as, ...contextOptions } = {}) => {
    const context = await browser.newContext({ baseURL: server.url, ...contextOptions });
    context.on("weberror", (error) => faults.push(`uncaught: ${error.error().message}`));
    context.on("console", (message) => {
      if (/Content Security Policy|Refused to|ResizeObserver loop/.test(message.text())) faults.push(message.text());
    });
    await context.addInitScript(reportNotices);
    context.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== server.url && !["data:", "blob:"].includes(protocol)) faults.push(`contacted ${origin}`);
    });
    if (as) await context.addInitScript(signInOnce, sessionOf(as));
    return context;
  };
  return {
    server,
    browser,
    open,
    async reuse({ as, timezoneId, viewport, colorScheme = null, permissions = [], extraHTTPHeaders = {} } = {}) {
      const key = `${as?.userId} ${timezoneId}`;
      const kept = reused.get(key);
      const options = { ...(as ? { as } : {}), ...(timezoneId ? { timezoneId } : {}) };
      const page = kept ?? (await (await open(options)).newPage());
      reused.set(key, page);
      if (kept !== undefined) await emptyPage(kept);
      // Firefox refuses the permissions that Chromium has, and so to clear them.
      if (!isFirefox) await page.context().clearPermissions();
      if (permissions.length > 0) await page.context().grantPermissions([...permissions]);
      await page.setViewportSize(viewport ?? { width: 1280, height: 720 });
      await page.setExtraHTTPHeaders(extraHTTPHeaders);
      await page.emulateMedia({ colorScheme, reducedMotion: null });
      return page;
    },
    faults: () => faults,
    close: () => browser.close(),
  };
}

/** Removes what a test left in a page, except its session. The next test opens an address. */
async function emptyPage(page: Page): Promise<void> {
  // No test has used it yet, and the initial blank page has no storage.
  if (page.url() === "about:blank") return;
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().unrouteAll({ behavior: "ignoreErrors" });
  // A pointer within the window would show a tooltip of the next document. Firefox takes no place outside of it.
  await (isFirefox ? page.mouse.move(0, 0) : page.mouse.move(-1, -1));
  await page.evaluate((session) => {
    for (const storage of [localStorage, sessionStorage]) {
      for (const key of Object.keys(storage)) if (!session.includes(key)) storage.removeItem(key);
    }
  }, SESSION_KEYS);
}

/** Like `startConsole`, with both providers configured; requests to the providers are not faults. */
export async function startConsoleWithProviders(): Promise<ConsoleUnderTest> {
  // Few files need the providers, and their modules take longer to load than all others of a file.
  const { startBothProviders } = await import("../../../scripts/providers/both.ts");
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

/** Where a page keeps its session, as `signInOnce` sets it. */
const SESSION_KEYS = ["test.signed-in", "taffrail.session", "taffrail.access"];

interface Seed {
  session: string;
  access: string;
}

/** The stored session of a user who has just signed in; see web/src/session/storage.ts. */
function sessionOf({ userId, email, refreshToken, accessToken }: Account): Seed {
  return {
    session: JSON.stringify({ id: "seeded", refreshToken, user: { id: userId, email }, retryKey: null }),
    access: JSON.stringify({ token: accessToken, until: Date.now() + 14 * 60_000, session: "seeded" }),
  };
}

/** Runs in the page before its own scripts: only the page itself receives the notice of a ResizeObserver loop. */
function reportNotices(): void {
  addEventListener("error", ({ message }) => {
    if (message?.startsWith("ResizeObserver loop")) console.error(message);
  });
}

/** Runs in the page before its own scripts on every load. Only the first load of a context signs in. */
function signInOnce({ session, access }: Seed): void {
  // The initial blank page has no storage, and in Firefox no address.
  if (!location.protocol.startsWith("http") || localStorage.getItem("test.signed-in") !== null) return;
  localStorage.setItem("test.signed-in", "yes");
  localStorage.setItem("taffrail.session", session);
  sessionStorage.setItem("taffrail.access", access);
}

/** CSS pixels by which a page is wider than its window: above 0, the page scrolls horizontally. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const root = document.documentElement;
    const over = (): number => root.scrollWidth - root.clientWidth;
    // Lists and charts measure themselves in the frames after a change of the width.
    for (let frame = 0; frame < 20 && over() > 0; frame++) await new Promise((next) => requestAnimationFrame(next));
    return over();
  });
}

/** Widths of pages in CSS pixels: a phone, a window of 1,280 at 200 % zoom, a tablet, a wide screen. */
const WIDTHS = [360, 640, 768, 1280, 1440, 2560];

/** Widths at which a page scrolls horizontally, with the excess. Empty is good. The window has its size again afterwards. */
export async function tooWide(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: size.height });
    const over = await overflowOf(page);
    if (over > 0) found.push(`${over} px at ${width}`);
  }
  await page.setViewportSize(size);
  return found;
}

/**
 * Controls of a page, or of its open dialog, that Tab does not reach, and those that another element covers while they have
 * the focus. Empty is good. Of a group in which the arrow keys move, one element is a stop.
 */
export async function beyondTab(page: Page): Promise<string[]> {
  const count = await page.evaluate(() => {
    const part = document.querySelector("dialog[open]") ?? document.getElementById("main") ?? document.body;
    const controls = "a[href], button, input, select, textarea, summary, [tabindex]";
    const groups =
      "[role=toolbar], [role=tablist], [role=tree], [role=grid], [role=listbox], [role=menu], [data-list], ul:has([tabindex='0'])";
    const left = new Set(
      [...part.querySelectorAll<HTMLElement>(controls)].filter(
        (control) =>
          control.checkVisibility({ visibilityProperty: true }) &&
          !control.matches(":disabled") &&
          (control.tabIndex >= 0 || (control.matches("a, button, input") && control.closest(groups) === null)),
      ),
    );
    const isRadio = (element: HTMLElement): element is HTMLInputElement => element.matches("input[type=radio]");
    const covered = new Set<HTMLElement>();
    const look = ({ target }: Event): void => {
      if (!(target instanceof HTMLElement) || !left.delete(target)) return;
      if (isRadio(target)) {
        for (const control of left) if (isRadio(control) && control.name === target.name) left.delete(control);
      }
      const { left: x, top: y, width, height } = target.getBoundingClientRect();
      const above = document.elementFromPoint(x + width / 2, y + height / 2);
      const isSeen =
        above !== null &&
        [target, target.closest("label")].some((each) => each?.contains(above) || above.contains(each));
      if (!isSeen) covered.add(target);
    };
    part.addEventListener("focusin", look);
    Object.assign(globalThis, { tabbed: { part, look, left, covered } });
    // A dialog has the focus, and Tab stays in it.
    if (part.id === "main") document.getElementById("main")?.focus();
    // Outside of a modal dialog nothing takes the focus.
    const around = part.matches(":modal") ? part : document;
    const stops = [...around.querySelectorAll<HTMLElement>(controls)].filter(
      (control) =>
        control.checkVisibility({ visibilityProperty: true }) && !control.matches(":disabled") && control.tabIndex >= 0,
    );
    return stops.length;
  });
  // At most once around the whole page, because a menu that closes may take the focus back after the first stops. Behind the
  // last stop, and before the first one, is the browser. Boxes that scroll are stops, too.
  for (let stop = 0; stop < count + SCROLLING; stop++) {
    await page.keyboard.press("Tab");
    // SAFETY: defined above.
    const left = await page.evaluate(() => (globalThis as unknown as { tabbed: Tabbed }).tabbed.left.size);
    if (left === 0) break;
  }
  return page.evaluate(() => {
    // SAFETY: defined above.
    const { tabbed } = globalThis as unknown as { tabbed: Tabbed };
    tabbed.part.removeEventListener("focusin", tabbed.look);
    const named = (element: HTMLElement): string =>
      (element.ariaLabel ?? element.textContent ?? "").trim() || element.outerHTML.slice(0, 100);
    // Elements that were replaced meanwhile are no longer controls.
    const left = [...tabbed.left].filter(({ isConnected }) => isConnected);
    return [
      ...left.map((element) => `Tab does not reach ${named(element)}`),
      ...[...tabbed.covered].map((element) => `covered while it has the focus: ${named(element)}`),
    ];
  });
}

/** More than the boxes of a page that scroll. */
const SCROLLING = 5;

interface Tabbed {
  part: Element;
  look: () => void;
  left: Set<HTMLElement>;
  covered: Set<HTMLElement>;
}

/**
 * Violations that axe-core finds on a page, with their elements. Empty is good.
 * @param part selector of the parts to check, if not the whole page
 */
export async function axeFaults(page: Page, part?: string): Promise<string[]> {
  // Through the driver's own channel, because the page's policy refuses foreign scripts. Once for each document: to read
  // half a megabyte of script costs a quarter of a check.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (part) => {
    // SAFETY: the line above defined it.
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run(part === undefined ? document : { include: [part] }, {
      // Elements without a fault are not described.
      resultTypes: ["violations"],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  }, part);
}

interface Axe {
  run(root: Document | { include: string[] }, options: { resultTypes: string[] }): Promise<AxeResult>;
}

interface AxeResult {
  violations: { id: string; nodes: { target: string[] }[] }[];
}
