import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";
import { answer, ENTRIES, feed, left, openPlayground, READS, row, sandboxOf } from "./support/playground.ts";

/** What the build made of the console. */
const FILES = path.resolve(import.meta.dirname, "../../dist/assets/app/files");

let under: ConsoleUnderTest;

beforeAll(async () => {
  under = await startConsole();
});

afterAll(() => under?.close());

describe("sending", () => {
  it("by form: the answer with its limit, the budgets, and the entry in the list", async () => {
    const page = await openPlayground(under);
    const message = 'It\'s a "quoted" message';
    // Nothing is spent by looking.
    expect([await left(page, ENTRIES), await left(page, READS)]).toEqual([100, 20]);
    await page.getByLabel("Level").selectOption("error");
    await page.getByLabel("Category").selectOption("database");
    await page.getByLabel("Type", { exact: true }).selectOption("slow-query");
    await page.getByLabel("Message").fill(message);
    await page.getByLabel("Data", { exact: true }).fill('{"rows": 12');
    await page.getByText("This is no JSON.").waitFor();
    expect(await page.getByRole("button", { name: "Send the entry" }).isDisabled()).toBe(true);
    await page.getByLabel("Data", { exact: true }).fill('{"rows": 12}');
    await page.getByRole("button", { name: "Send the entry" }).click();
    await answer(page).getByText("201 Created").waitFor();
    await answer(page).getByText("X-RateLimit-Remaining").waitFor();
    expect(await answer(page).locator("dd").allInnerTexts()).toEqual(["100", "99", expect.stringMatching(/\d:\d\d/)]);
    expect(await answer(page).locator("dd time").getAttribute("title")).toMatch(/^\d{10} \(Unix seconds\)$/);
    await answer(page).getByText('"accepted": 1').waitFor();
    await row(page, message).waitFor();
    expect(await row(page, message).textContent()).toMatch(/error.*slow-query/);
    expect([await left(page, ENTRIES), await left(page, READS)]).toEqual([99, 19]);
    await page.context().close();
  });

  it("by JSON: every shape, mistakes in their place, and what the service refuses", async () => {
    const page = await openPlayground(under);
    await page.getByRole("tab", { name: "JSON" }).click();
    const box = page.getByLabel("Entries as JSON");
    const sends: [text: string, button: string, first: string][] = [
      ['{"message": "shape one"}', "Send the entry", "shape one"],
      ['[{"message": "shape two"}, {"message": "and"}]', "Send 2 entries", "shape two"],
      ['{"logs": [{"message": "shape three"}]}', "Send the entry", "shape three"],
      ['{"message": "shape four"}\n{"message": "with a line more"}\n', "Send 2 entries", "shape four"],
    ];
    for (const [text, button, message] of sends) {
      await box.fill(text);
      await page.getByRole("button", { name: button }).click();
      await row(page, message).waitFor();
    }
    await box.fill(JSON.stringify(Array.from({ length: 101 }, () => ({ message: "too many" }))));
    await page.getByText("101 entries never fit: an address has 100 an hour.").waitFor();
    expect(await page.getByRole("button", { name: "Send 101 entries" }).isDisabled()).toBe(true);
    await box.fill('[{"message": "x"},');
    await page.getByRole("alert").getByText("This is no JSON.").waitFor();
    expect(await box.getAttribute("aria-invalid")).toBe("true");
    await box.fill('{"message": "x"}\n{"message": }');
    await page.getByRole("alert").getByText("Line 2").waitFor();
    await box.fill('[{"message": "the good one"}, {"level": "urgent", "message": "the bad one"}]');
    await page.getByText("The service will refuse, and store the rest:").waitFor();
    await page.getByRole("button", { name: "Send 2 entries" }).click();
    await page.getByRole("alert").getByText("The service refused:").waitFor();
    await page.getByText("INVALID_LEVEL", { exact: true }).waitFor();
    await answer(page).getByText("1 stored, 1 refused").waitFor();
    await row(page, "the good one").waitFor();
    await box.fill('{"message": ""}');
    await page.getByRole("button", { name: "Send the entry" }).click();
    await answer(page).getByText("400 Bad Request").waitFor();
    await page.getByText("INVALID_MESSAGE", { exact: true }).waitFor();
    await page.context().close();
  });

  it("with an Idempotency-Key: the second time nothing is stored", async () => {
    const page = await openPlayground(under);
    await page.getByLabel("Idempotency-Key").fill(`once-${Date.now()}`);
    const send = page.getByRole("button", { name: "Send the entry" });
    await send.click();
    await answer(page).getByText("1 stored", { exact: true }).waitFor();
    await send.click();
    await answer(page).getByText('"duplicate": true').waitFor();
    await page.context().close();
  });

  it("as an application: through the proxy, without a key in any request, and with secrets masked", async () => {
    const page = await openPlayground(under);
    const { apiKey } = await sandboxOf(under.server.url);
    const requests: { path: string; text: string }[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      requests.push({ path: pathname, text: `${JSON.stringify(request.headers())} ${request.postData() ?? ""}` });
    });
    await page.getByRole("tab", { name: "As an app" }).click();
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Pay, and fail" }).click();
    await page.getByRole("button", { name: "Send now" }).click();
    await row(page, "Payment gateway timed out").waitFor();
    await row(page, "Signed in").click();
    await feed(page).getByText("[REDACTED]").first().waitFor();
    await feed(page).getByText("browser").first().waitFor();
    const sent = requests.filter(({ path }) => path === "/playground/logs");
    expect(sent.length).toBeGreaterThan(0);
    for (const { text } of sent) {
      expect(text).not.toContain(apiKey);
      expect(text).not.toMatch(/authorization|correct horse|abc123/i);
    }
    await expect.poll(() => left(page, ENTRIES)).toBe(98);
    expect(await page.locator("pre code").textContent()).toContain('error("Payment gateway timed out", {');
    await page.context().close();
  });
});

describe("the page", () => {
  it("has no key in its files, and at most 150 KB of script to load", async () => {
    for (const name of readdirSync(FILES)) {
      expect([name, /sk_\w{20,}/.exec(readFileSync(path.join(FILES, name), "utf8"))]).toEqual([name, null]);
    }
    const context = await under.open();
    const page = await context.newPage();
    const scripts = new Set<string>();
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.add(path.basename(new URL(request.url()).pathname));
    });
    await page.goto("/playground");
    await page.getByRole("heading", { name: "The sandbox", exact: true }).waitFor();
    const bytes = [...scripts].reduce((sum, name) => sum + gzipSync(readFileSync(path.join(FILES, name))).length, 0);
    expect(scripts.size).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(150_000);
    await context.close();
  });

  it.each(["light", "dark"] as const)("has no fault that axe finds, %s", async (colorScheme) => {
    const page = await openPlayground(under, { colorScheme, viewport: { width: 360, height: 740 } });
    await page.getByRole("button", { name: "Send the entry" }).click();
    await row(page, "GET /cart answered 503").click();
    expect(await axeFaults(page)).toEqual([]);
    for (const [tab, text] of [
      ["JSON", "Examples:"],
      ["As an app", "A small shop"],
      ["Search", "Nothing searched for yet"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(text).first().waitFor();
      expect([tab, await axeFaults(page)]).toEqual([tab, []]);
    }
    await page.context().close();
  });

  it("needs no sideways scrolling", async () => {
    const page = await openPlayground(under);
    await page.getByRole("button", { name: "Send the entry" }).click();
    await row(page, "GET /cart answered 503").click();
    for (const tabs of [["Form", "Client library"], ["JSON"], ["As an app", "On the server"], ["Search"]]) {
      for (const name of tabs) await page.getByRole("tab", { name }).click();
      for (const width of [360, 768, 1440]) {
        await page.setViewportSize({ width, height: 740 });
        const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
        expect([...tabs, width, fits]).toEqual([...tabs, width, true]);
      }
    }
    await page.context().close();
  });

  it("is used by keyboard alone", async () => {
    const page = await openPlayground(under);
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
    await page.context().close();
  });

  it("contacts nobody else and breaks no rule of its policy", () => {
    expect(under.faults()).toEqual([]);
  });
});
