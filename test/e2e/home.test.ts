import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Download, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, createKey, createProject, createTenant, register } from "../support/api.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
});

afterAll(() => under?.close());

describe("the home page of a visitor", () => {
  it.each(["light", "dark"] as const)("shows the sandbox, has no axe violations and fits, %s", async (colorScheme) => {
    const page = await (await under.open({ colorScheme, reducedMotion: "reduce" })).newPage();
    await page.goto("/");
    const entries = page.getByRole("region", { name: "Entries of the public sandbox" });
    await entries.getByRole("listitem").first().waitFor();
    expect(await entries.getByRole("listitem").count()).toBe(12);
    // Without motion nothing moves until the visitor asks for it.
    await entries.getByRole("button", { name: "Replay" }).waitFor();
    await page.getByRole("img", { name: /^Entries of the sandbox by level/ }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    expect(await beyondTab(page)).toEqual([]);
    await page.context().close();
  });

  it("loads its fonts after its content, without waiting for the time of other pages", async () => {
    const page = await (await under.open()).newPage();
    await page.addInitScript(() => {
      const { setTimeout: real } = globalThis;
      // SAFETY: the same function, but for that time.
      globalThis.setTimeout = ((run: () => void, ms?: number) => (ms === 1500 ? 0 : real(run, ms))) as typeof real;
    });
    await page.goto("/");
    const loaded = () =>
      page.evaluate(() => [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family));
    await expect.poll(loaded).toContain("Inter Variable");
    await page.context().close();
  });

  it("replays the entries, and stops on a click", async () => {
    const page = await (await under.open()).newPage();
    await page.goto("/");
    const entries = page.getByRole("region", { name: "Entries of the public sandbox" });
    const first = () => entries.getByRole("listitem").first().textContent();
    await entries.getByRole("listitem").first().waitFor();
    const before = await first();
    await expect.poll(first, { timeout: 15_000 }).not.toBe(before);
    await entries.getByRole("button", { name: "Pause" }).click();
    await entries.getByRole("button", { name: "Replay" }).waitFor();
    await page.context().close();
  });

  it("runs a query on the sandbox, which opens in the playground", async () => {
    const address = { "X-Forwarded-For": "198.51.100.200" };
    const page = await (await under.open({ extraHTTPHeaders: address })).newPage();
    await page.goto("/");
    const query = page.getByRole("region", { name: "A query" });
    await query.getByRole("columnheader", { name: "p95(durationMs)" }).waitFor();
    await query.getByRole("button", { name: "What fails most" }).click();
    await query.getByRole("cell", { name: "payment" }).first().waitFor();
    await query.getByRole("link", { name: "Open in the playground" }).click();
    await page.waitForURL("**/playground?q=level%3A%3E%3Derror*");
    await page.context().close();
  });
});

describe("the workspaces of a user", () => {
  it("begin with those that have entries, in an order that is there at once and stays", async () => {
    const account = await verifiedAccount(url);
    const shared = { ...account, workspaceId: await sharedWorkspace(url, account, "Harbour") };
    const project = await createProject(url, shared, "shop");
    const { secret } = await createKey(url, shared, project, ["logs:write"]);
    const body = [{ message: "Payment 81 failed", level: "error" }];
    expect((await call(url, `/logger/${project}/log`, { token: secret, body })).status).toBe(201);
    const page = await (await under.open({ as: account })).newPage();
    let asked = 0;
    await page.route("**/projects?*", async (route) => {
      asked++;
      await route.continue();
    });
    await page.route("**/projects", async (route) => {
      asked++;
      await route.continue();
    });
    // The cards wait a second for the projects, which may take longer on a busy machine.
    await page.addInitScript(() => {
      const run = setTimeout;
      const patient = (act: () => void, ms?: number) => run(act, ms === 1000 ? 60_000 : ms);
      Object.assign(globalThis, { setTimeout: patient });
    });
    await page.addInitScript(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        const names = [...document.querySelectorAll("h2")].map(({ textContent }) => textContent).join();
        if (names !== "" && seen.at(-1) !== names) seen.push(names);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    await page.goto("/");
    await page.getByRole("link", { name: "1 error in the last 24 hours" }).waitFor();
    await page.getByRole("link", { name: "Send the first entry" }).waitFor();
    const names = await page.getByRole("heading", { level: 2 }).allTextContents();
    expect(names[0]).toBe("Harbour");
    expect(names).toHaveLength(2);
    const seen = await page.evaluate(() => Reflect.get(globalThis, "seen") as unknown);
    expect(seen).toEqual([names.join()]);
    // The order costs no request: the cards use the same answers.
    expect(asked).toBe(2);
    await page.context().close();
  });
});

describe("the local outbox", () => {
  it("shows new mails by itself, with links that open", async () => {
    const page = await (await under.open()).newPage();
    await page.goto("/dev/outbox");
    await page.getByRole("heading", { name: "Outbox" }).waitFor();
    const account = await register(url);
    const mail = page.getByRole("article").filter({ hasText: account.email });
    await mail.waitFor();
    await mail.getByText("confirmation", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    expect(await beyondTab(page)).toEqual([]);
    await mail.getByRole("link").first().click();
    await page.getByRole("button", { name: "Yes, confirm the address" }).waitFor();
    await page.context().close();
  });
});

describe("the overview of a workspace", () => {
  let account: Account;
  let projectId: string;

  beforeAll(async () => {
    account = await verifiedAccount(url);
    projectId = await createProject(url, account, "shop");
    const { secret } = await createKey(url, account, projectId, ["logs:write"]);
    await createKey(url, account, projectId, ["logs:read"]);
    const at = (hours: number) => Date.now() - hours * 3_600_000;
    const body = [
      { message: "Stock of 7 is low", level: "warn", timestamp: at(30) },
      { message: "Payment 81 failed", level: "error", timestamp: at(2) },
      { message: "Payment 82 failed", level: "error", timestamp: at(1) },
      { message: "Stock of 8 is low", level: "warn", timestamp: at(1) },
    ];
    expect((await call(url, `/logger/${projectId}/log`, { token: secret, body })).status).toBe(201);
  });

  const open = async (path: string, options: Parameters<ConsoleUnderTest["open"]>[0] = {}): Promise<Page> => {
    const page = await (await under.open({ ...options, as: account })).newPage();
    await page.goto(`/w/${account.workspaceId}/${path}`);
    return page;
  };
  const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  it.each(["light", "dark"] as const)(
    "has each part with its content, no axe violations, and fits, %s",
    async (colorScheme) => {
      const page = await open("overview", { colorScheme });
      await part(page, "New patterns").getByRole("link", { name: "Payment <N> failed" }).waitFor();
      expect(await part(page, "New patterns").getByText("Stock").count()).toBe(0);
      await part(page, "Entries a day").getByText("shop").waitFor();
      await part(page, "Last changes")
        .getByText(`API key created test ${account.email}`, { exact: true })
        .first()
        .waitFor();
      // Sign-ins are in the audit alone.
      expect(await part(page, "Last changes").getByText("Signed in").count()).toBe(0);
      await part(page, "Storage and cost").getByText("under $0.01").first().waitFor();
      await part(page, "Limits").getByText("No key or member").waitFor();
      await part(page, "Unused keys").getByText("No key older than 30 days is unused.").waitFor();
      expect(await part(page, "Unused keys").getByRole("listitem").count()).toBe(1);
      await part(page, "Errors of the last 24 hours").getByRole("link", { name: "2 errors" }).waitFor();
      await part(page, "Firing alerts").getByRole("link", { name: "Create an alert" }).waitFor();
      await part(page, "Releases").getByText("No version began").waitFor();
      await part(page, "Notifications").getByText("No alert").waitFor();
      await page.getByText("Received today").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await tooWide(page)).toEqual([]);
      expect(await beyondTab(page)).toEqual([]);
      // One tab stop, in which the arrow keys move.
      const bars = part(page, "Errors of the last 24 hours").getByRole("link", { name: /: 1 error$/ });
      expect(await bars.evaluateAll((links) => links.map((link) => link.tabIndex))).toEqual([0, -1]);
      await bars.first().press("ArrowRight");
      expect(await bars.evaluateAll((links) => links.map((link) => link.tabIndex))).toEqual([-1, 0]);
      await page.context().close();
    },
  );

  it("marks releases above the errors with what they changed, and names the peak", async () => {
    const shop = await createTenant(url);
    const at = (hours: number) => Date.now() - hours * 3_600_000;
    const body = [20, 10, 2, 1].map((hours) => ({
      message: "started",
      timestamp: at(hours),
      data: { version: hours > 5 ? "1.0" : "2.0", pool: hours > 5 ? 20 : 5 },
    }));
    // A release that changed nothing shares its mark with the one that did.
    const quiet = [20, 10, 2.02].map((hours) => ({
      message: "started",
      timestamp: at(hours),
      data: { service: "mailer", version: hours > 5 ? "7.0" : "7.1" },
    }));
    const failures = [3, 1, 1].map((hours) => ({ message: "failed", level: "error", timestamp: at(hours) }));
    const sent = { token: shop.key.secret, body: [...body, ...quiet, ...failures] };
    expect((await call(url, `/logger/${shop.projectId}/log`, sent)).status).toBe(201);
    const page = await under.reuse({ as: shop.account });
    await page.goto(`/w/${shop.account.workspaceId}/overview`);
    const errors = part(page, "Errors of the last 24 hours");
    await errors.getByRole("link", { name: /^most: 2 at / }).waitFor();
    const mark = errors.getByRole("toolbar", { name: "Releases" }).getByRole("button");
    await mark.focus();
    // Its tooltip and its box list them in one order, what changed a setting first, each with its sign.
    const told = /^\u25c6 2\.0, .*: pool\u00a020\u00a0\u2192\u00a05\s*\u25cf mailer 7\.1, /;
    await expect.poll(() => mark.getAttribute("data-tooltip")).toMatch(told);
    await page.keyboard.press("Enter");
    const box = page.getByRole("dialog", { name: "Releases" });
    await box.getByText("pool 20 → 5").waitFor();
    const listed = await box.getByRole("heading").allTextContents();
    expect(listed.map((name) => name.split(",")[0])).toEqual([
      expect.stringMatching(/^\u25c6 2\.0 /),
      expect.stringMatching(/^\u25cf mailer 7\.1 /),
    ]);
    await part(page, "Releases").getByText("pool 20 → 5", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    // The bar of one error of two is half as high, and no bar is higher than its count says.
    const heights = await errors
      .getByRole("link", { name: /: \d errors?$/ })
      .evaluateAll((bars) => bars.map((bar) => bar.firstElementChild?.getBoundingClientRect().height ?? 0));
    expect(Math.abs((heights[0] ?? 0) * 2 - (heights[1] ?? 0))).toBeLessThan(1);
  });

  it("keeps the other parts if one fails, and loads it again", async () => {
    const page = await open("boards");
    let isBroken = true;
    await page.route("**/usage/days?*", (route) =>
      isBroken
        ? route.fulfill({ status: 403, json: { success: false, error: { code: "FORBIDDEN", message: "No." } } })
        : route.continue(),
    );
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await part(page, "Entries a day").getByText("No.").waitFor();
    await part(page, "Last changes").getByText("API key created").first().waitFor();
    isBroken = false;
    await part(page, "Entries a day").getByRole("button", { name: "Try again" }).click();
    await part(page, "Entries a day").getByText("shop").waitFor();
    await page.context().close();
  });

  it("leads to the days as a table and a file", async () => {
    const page = await open("overview");
    await page.getByRole("link", { name: "Usage and export" }).click();
    await page.getByRole("columnheader", { name: "shop" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const lines = (await readFile(await (await download).path(), "utf8")).trimEnd().split("\r\n");
    expect(lines[0]).toBe("day,project_id,project,entries,trace,debug,log,info,warn,error,fatal");
    const counted = lines.slice(1).map((line) => line.split(","));
    expect(counted.every(([, id, name]) => id === projectId && name === "shop")).toBe(true);
    expect(counted.reduce((sum, cells) => sum + Number(cells[3]), 0)).toBe(4);
    await page.context().close();
  });

  it("exports a project to a file, and says what it has", async () => {
    const page = await open("settings/export");
    // Without this API the browser gets a file in memory, which needs no dialog.
    await page.evaluate(() => Reflect.deleteProperty(globalThis, "showSaveFilePicker"));
    await page.getByRole("button", { name: "Export", exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`${projectId}.ndjson`);
    await page.getByText("4 entries").waitFor();
    const lines = (await readFile(await file.path(), "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(5);
    const { sha256 } = JSON.parse(lines.at(-1) ?? "").manifest;
    await page.getByText(sha256).waitFor();
    const folder = await mkdtemp(path.join(tmpdir(), "export-"));
    const verified = async (download: Download): Promise<string> => {
      const command = (await page.locator("code", { hasText: "openssl" }).textContent()) ?? "";
      await download.saveAs(path.join(folder, download.suggestedFilename()));
      return execFileSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
    };
    expect(await verified(file)).toContain(sha256);
    expect(await axeFaults(page)).toEqual([]);
    await choose(page.getByLabel("Format"), "Parquet: columns, for DuckDB or Spark");
    await page.waitForURL("**/settings/export?format=parquet&project=*");
    const columns = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const parquet = await columns;
    await page.locator("code", { hasText: `${projectId}.parquet` }).waitFor();
    expect(await verified(parquet)).toContain(await page.locator("code").first().textContent());
    await rm(folder, { recursive: true });
    await page.context().close();
  });

  it("changes how the entries of a key are read", async () => {
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(`${settingsPath(account.workspaceId, "keys")}?project=${projectId}`);
    await page
      .getByRole("button", { name: /^Settings of/ })
      .first()
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Time", { exact: true }).fill("when, at.time");
    await choose(dialog.getByLabel("Store repeated requests once"), "Each record with a time");
    expect(await axeFaults(page, "dialog")).toEqual([]);
    await dialog.getByLabel("Level", { exact: true }).fill("x".repeat(101));
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").first().waitFor();
    await dialog.getByLabel("Level", { exact: true }).fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const path = `/projects/${projectId}/keys`;
    const { items } = (await call<{ items: { dedupe: string; mapping: object }[] }>(url, path, asUser(account))).body
      .data;
    expect(items[0]).toMatchObject({ dedupe: "record", mapping: { time: ["when", "at.time"] } });
    await page.context().close();
  });
});

it("violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
