import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/api.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startConsole, tooWide } from "./support/console.ts";
import {
  answer,
  ENTRIES,
  freshAddress,
  left,
  live,
  openPlayground,
  panel,
  READS,
  row,
  sandboxOf,
} from "./support/playground.ts";

/** The console's build output. */
const FILES = path.resolve(import.meta.dirname, "../../dist/assets/app/files");

let under: ConsoleUnderTest;

beforeAll(async () => {
  under = await startConsole();
});

afterAll(() => under?.close());

describe("sending", () => {
  it("by form shows the response with its limit, the budgets and the entry in the list", async () => {
    const page = await openPlayground(under);
    const message = 'It\'s a "quoted" message';
    await live(page);
    // The first search, with its histogram, its counts and the tail.
    await expect.poll(() => left(page, READS)).toBe(19);
    expect(await left(page, ENTRIES)).toBe(100);
    await choose(panel(page).getByLabel("Level"), "error");
    await choose(panel(page).getByLabel("Category"), "database");
    await choose(panel(page).getByLabel("Type", { exact: true }), "slow-query");
    await page.getByLabel("Message").fill(message);
    await panel(page).getByLabel("Data", { exact: true }).fill('{"rows": 12');
    await page.getByText("Invalid JSON.").waitFor();
    expect(await page.getByRole("button", { name: "Send entry" }).isDisabled()).toBe(true);
    await panel(page).getByLabel("Data", { exact: true }).fill('{"rows": 12}');
    await page.getByRole("button", { name: "Send entry" }).click();
    await answer(page).getByText("201 Created").waitFor();
    await answer(page).getByText("X-RateLimit-Remaining").waitFor();
    expect(await answer(page).locator("dd").allInnerTexts()).toEqual(["100", "99", expect.stringMatching(/\d:\d\d/)]);
    expect(await answer(page).locator("dd time").getAttribute("title")).toMatch(/^\d{10} \(Unix seconds\)$/);
    await answer(page).getByText('"accepted": 1').waitFor();
    await row(page, message).waitFor();
    expect(await row(page, message).textContent()).toMatch(/error.*slow-query/);
    expect([await left(page, ENTRIES), await left(page, READS)]).toEqual([99, 19]);
  });

  it("by JSON accepts every shape, shows errors at their place and entries that the service rejects", async () => {
    const page = await openPlayground(under);
    await live(page);
    await page.getByRole("tab", { name: "JSON" }).click();
    const box = page.getByLabel("Entries as JSON");
    const sends: [text: string, button: string, first: string][] = [
      ['{"message": "shape one"}', "Send entry", "shape one"],
      ['[{"message": "shape two"}, {"message": "and"}]', "Send 2 entries", "shape two"],
      ['{"logs": [{"message": "shape three"}]}', "Send entry", "shape three"],
      ['{"message": "shape four"}\n{"message": "with a line more"}\n', "Send 2 entries", "shape four"],
    ];
    for (const [text, button, message] of sends) {
      await box.fill(text);
      await page.getByRole("button", { name: button }).click();
      await row(page, message).waitFor();
    }
    await box.fill(JSON.stringify(Array.from({ length: 101 }, () => ({ message: "too many" }))));
    await page.getByText("Too many entries: the limit is 100 an hour for each IP address.").waitFor();
    expect(await page.getByRole("button", { name: "Send 101 entries" }).isDisabled()).toBe(true);
    await box.fill('[{"message": "x"},');
    await page.getByRole("alert").getByText("Invalid JSON.").waitFor();
    expect(await box.getAttribute("aria-invalid")).toBe("true");
    await box.fill('{"message": "x"}\n{"message": }');
    await page.getByRole("alert").getByText("Line 2").waitFor();
    await box.fill('[{"message": "the good one"}, {"level": "urgent", "message": "the bad one"}]');
    await page.getByText("The service will reject these and store the rest:").waitFor();
    await page.getByRole("button", { name: "Send 2 entries" }).click();
    await page.getByRole("alert").getByText("Rejected by the service:").waitFor();
    await page.getByText("INVALID_LEVEL", { exact: true }).waitFor();
    await answer(page).getByText("1 stored, 1 rejected").waitFor();
    await row(page, "the good one").waitFor();
    await box.fill('{"message": ""}');
    await page.getByRole("button", { name: "Send entry" }).click();
    await answer(page).getByText("400 Bad Request").waitFor();
    await page.getByText("INVALID_MESSAGE", { exact: true }).waitFor();
  });

  it("with an Idempotency-Key stores a repeated request once", async () => {
    const page = await openPlayground(under);
    await page.getByLabel("Idempotency-Key").fill(`once-${Date.now()}`);
    const send = page.getByRole("button", { name: "Send entry" });
    await send.click();
    await answer(page).getByText("1 stored", { exact: true }).waitFor();
    await send.click();
    await answer(page).getByText('"duplicate": true').waitFor();
  });

  it("as an application uses the proxy, sends no key and masks secrets", async () => {
    const page = await openPlayground(under);
    const { apiKey } = await sandboxOf(under.server.url);
    const requests: { path: string; text: string }[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      requests.push({ path: pathname, text: `${JSON.stringify(request.headers())} ${request.postData() ?? ""}` });
    });
    await live(page);
    await page.getByRole("tab", { name: "Application" }).click();
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Fail payment" }).click();
    await page.getByRole("button", { name: "Send now" }).click();
    await row(page, "Payment gateway timed out").waitFor();
    await row(page, "Signed in").click();
    await page.locator("[data-list]").getByText("[REDACTED]").first().waitFor();
    await page.locator("[data-list]").getByText("browser").first().waitFor();
    const sent = requests.filter(({ path }) => path === "/playground/logs");
    expect(sent.length).toBeGreaterThan(0);
    for (const { text } of sent) {
      expect(text).not.toContain(apiKey);
      expect(text).not.toMatch(/authorization|correct horse|abc123/i);
    }
    await expect.poll(() => left(page, ENTRIES)).toBe(98);
    expect(await page.locator("pre code").textContent()).toContain('error("Payment gateway timed out", {');
  });
});

describe("searching", () => {
  it("counts a search with its histogram and counts as one read, and suggests without a read", async () => {
    const asked: { path: string; search: string | undefined }[] = [];
    const page = await openPlayground(under, {}, freshAddress(), (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/logger/")) asked.push({ path: pathname, search: request.headers()["x-search-id"] });
    });
    await live(page);
    await expect.poll(() => left(page, READS)).toBe(19);
    const [first] = asked;
    // The key of the explorer that focuses its query.
    await page.keyboard.press("/");
    await page.keyboard.type("categ");
    await page
      .getByRole("option", { name: /category/ })
      .first()
      .waitFor();
    // The first search may still request the values of its fields; nothing else does a request.
    expect(asked.filter(({ search }) => search !== first?.search)).toEqual([]);
    expect(await left(page, READS)).toBe(19);
    await page.keyboard.press("Escape");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("Payment category:billing ");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/playground?q=*");
    await row(page, "Payment gateway timed out").waitFor();
    const second = () => asked.filter(({ search }) => search !== first?.search);
    await expect.poll(() => second().length).toBeGreaterThan(2);
    await expect.poll(() => left(page, READS)).toBe(18);
    expect(second().map(({ path }) => path)).toEqual(expect.arrayContaining(["/logger/query", "/logger/stats"]));
    expect(new Set(second().map(({ search }) => search)).size).toBe(1);
    expect(asked.every(({ search }) => search !== undefined)).toBe(true);
    // Opened by its address, too, the page has only what the query finds.
    await page.reload();
    await row(page, "Payment gateway timed out").waitFor();
    expect(await page.locator("[data-row]").filter({ hasNotText: "ayment" }).count()).toBe(0);
  });

  it("opens a link to an entry of the sandbox, which names its workspace", async () => {
    const page = await openPlayground(under);
    await page.goto("/w/ws_TaffrailDemo/p/proj_000000000000?q=Payment&range=all");
    await page.waitForURL("**/playground?q=Payment&range=all");
    await row(page, "Payment gateway timed out").waitFor();
    // Without pages of a workspace, to which a visitor has no access.
    await page.getByRole("button", { name: "Views" }).waitFor();
    expect(await page.getByRole("link", { name: /^(?:Patterns|Compare|Create alert|Trace)$/ }).count()).toBe(0);
  });
});

describe("the page", () => {
  it("has no key in its files, and loads at most 150 KB of script", async () => {
    for (const name of readdirSync(FILES)) {
      expect([name, /sk_\w{20,}/.exec(readFileSync(path.join(FILES, name), "utf8"))]).toEqual([name, null]);
    }
    const context = await under.open();
    const page = await context.newPage();
    // In the page, because this process sees the row some time later, and what loads meanwhile would count.
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector("[data-row]") === null) return;
        performance.mark("first row");
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto("/playground");
    await row(page, "").waitFor();
    const scripts = new Set(
      await page.evaluate(() => {
        const shownAt = performance.getEntriesByName("first row")[0]?.startTime ?? Number.POSITIVE_INFINITY;
        const loaded = performance.getEntriesByType("resource").filter(({ startTime }) => startTime < shownAt);
        return loaded.flatMap(({ name }) => /[^/]+\.js$/.exec(name) ?? []);
      }),
    );
    const bytes = [...scripts].reduce((sum, name) => sum + gzipSync(readFileSync(path.join(FILES, name))).length, 0);
    expect(scripts.size).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(150_000);
    await context.close();
  });

  it.each(["light", "dark"] as const)("has no axe violations, %s", async (colorScheme) => {
    const page = await openPlayground(under, { colorScheme, viewport: { width: 360, height: 740 } });
    await page.getByRole("button", { name: "Send entry" }).click();
    await answer(page).getByText("201 Created").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    for (const [tab, text] of [
      ["JSON", "Examples:"],
      ["Application", "A small shop"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(text).first().waitFor();
      expect([tab, await axeFaults(page)]).toEqual([tab, []]);
    }
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Key and limits" }).click();
    await page.getByRole("dialog", { name: "Key and limits" }).getByText("Next reset").waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  it("does not scroll horizontally, from a phone to a wide screen", async () => {
    const page = await openPlayground(under, { viewport: { width: 1400, height: 800 } });
    await page.getByRole("button", { name: "Send entry" }).click();
    await row(page, "GET /cart answered 503").click();
    for (const tabs of [["Form", "Client library"], ["JSON"], ["Application", "On the server"]]) {
      for (const name of tabs) await page.getByRole("tab", { name }).click();
      expect([...tabs, ...(await tooWide(page))]).toEqual(tabs);
    }
  });

  it("can be used by keyboard alone", async () => {
    const page = await openPlayground(under);
    await live(page);
    await page.getByRole("tab", { name: "Form" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByLabel("Entries as JSON").waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("JSON");
    await page.keyboard.press("ArrowLeft");
    await page.getByLabel("Message").focus();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("typed and sent");
    await page.keyboard.press("Enter");
    await row(page, "typed and sent").waitFor();
  });

  it("opens by itself once the service is there", async () => {
    const page = await under.reuse({
      viewport: { width: 1280, height: 800 },
      extraHTTPHeaders: { "X-Forwarded-For": freshAddress() },
    });
    let isAway = true;
    await page.route("**/sandbox", (route) => (isAway ? route.abort() : route.continue()));
    await page.goto("/playground");
    await page.getByText("The service could not be reached. Trying again.").waitFor();
    isAway = false;
    await row(page, "Payment gateway timed out").waitFor();
    expect(under.faults()).toEqual([]);
  });

  it("lets the list take another width before the histogram is there", async () => {
    const page = await under.reuse({
      viewport: { width: 1280, height: 800 },
      extraHTTPHeaders: { "X-Forwarded-For": freshAddress() },
    });
    await page.route(/\/histogram-[^/]*\.js$/, () => {});
    await page.goto("/playground?live=1");
    const heads = page.getByRole("button", { name: "Columns" });
    await heads.waitFor();
    const open = page.getByRole("button", { name: "Send entries" });
    // Beside the panel a row takes two lines, and no column has a name.
    await open.click();
    await heads.waitFor({ state: "detached" });
    await open.click();
    await heads.waitFor();
    expect(under.faults()).toEqual([]);
  });

  it("makes a phone's page as high as an open entry that grows", async () => {
    const { projectId, apiKey } = await sandboxOf(under.server.url);
    const entry = { level: "info", message: "a deep one", data: { a: { b: { inner: { list: [1, 2, 3] } } } } };
    await call(under.server.url, `/logger/${projectId}/log`, { token: apiKey, body: entry });
    const page = await under.reuse({
      viewport: { width: 390, height: 844 },
      extraHTTPHeaders: { "X-Forwarded-For": freshAddress() },
    });
    await page.goto("/playground");
    await row(page, "a deep one").click();
    const height = await page.evaluate(() => document.body.offsetHeight);
    for (const name of [/^inner/, /^list/]) await page.getByRole("button", { name }).click();
    await expect.poll(() => page.evaluate(() => document.body.offsetHeight)).toBeGreaterThan(height);
    expect(under.faults()).toEqual([]);
  });

  it("contacts no other origin and violates no content security policy", () => {
    expect(under.faults()).toEqual([]);
  });
});
