import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, createKey, createProject, type Tenant } from "../support/api.ts";
import { send } from "./explorer-query-support.ts";
import { linkMailedTo, newEmail } from "./support/account.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { join, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;
let owner: Account;
let viewer: Account;
let workspaceId: string;
let tenant: Tenant;

const failing = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ level: "error", message: `broken ${n}`, service: "checkout" }));

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
  [owner, viewer] = await Promise.all([verifiedAccount(url), verifiedAccount(url)]);
  workspaceId = await sharedWorkspace(url, owner, "Lighthouse");
  await join(url, { workspaceId, owner, guest: viewer, role: "viewer" });
  const account = { ...owner, workspaceId };
  const projectId = await createProject(url, account, "shop");
  tenant = { account, projectId, key: await createKey(url, account, projectId) };
  // The longest name has to wrap in the editor.
  for (const name of ["On call", "W".repeat(100)]) {
    await call(url, `/workspaces/${workspaceId}/destinations`, {
      ...asUser(account),
      body: { kind: "webhook", name, url: "https://hooks.example.com/" },
    });
  }
  await send(url, tenant, [{ level: "info", message: "fine" }, ...failing(3)]);
});

afterAll(() => under?.close());

async function opened(as: Account, path: string, colorScheme: "light" | "dark" = "light"): Promise<Page> {
  const context = await under.open({ as, colorScheme, viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  await page.goto(`/w/${workspaceId}${path}`);
  return page;
}

describe("20.6: alerts in the console", () => {
  it("20.6: an empty list says what alerts are for, and a viewer has nothing to create", async () => {
    const page = await opened(viewer, "/alerts");
    await page.getByRole("heading", { name: "No alerts" }).waitFor();
    expect(await page.getByRole("link", { name: "New alert" }).count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });

  it("20.6: a search becomes an alert after a preview, fires, and its history opens exactly its entries", async () => {
    const q = "level:>=error | count by service, bin(5m)";
    const page = await opened(owner, `/p/${tenant.projectId}?${new URLSearchParams({ q })}`);
    await page.getByRole("link", { name: "Create alert" }).click();
    const query = page.getByRole("textbox", { name: "Query", exact: true });
    await expect.poll(() => query.inputValue()).toBe("level:>=error | count by service");
    await page.getByLabel("Value", { exact: true }).fill("2");
    await choose(page.getByLabel("Window", { exact: true }), "1 minute");
    await page.getByText("Would have fired once").waitFor();
    await page.getByRole("list", { name: "Firings, newest first" }).getByText("service=checkout").waitFor();
    await page.getByRole("img", { name: /^count.*threshold 2$/ }).waitFor();
    // What is missing is said beside its input, and nothing is sent.
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Name the alert.").waitFor();
    await page.getByLabel("Name", { exact: true }).and(page.locator(":focus-visible")).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Checkout errors");
    await page.getByLabel("On call").check();
    await page.getByLabel("Message").fill("{{group.service}}: {{value}} of {{nothing}}");
    await page.getByText("checkout: 3 of {{nothing}}").waitFor();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("{{nothing}} has no value.").waitFor();
    await page.getByLabel("Message").fill("{{group.service}}: {{value}}");
    await page.getByRole("button", { name: "Add label" }).click();
    await page.getByLabel("Name of label 1").fill("severity");
    await page.getByLabel("Value of label 1").fill("critical");
    expect(await tooWide(page)).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name: "Checkout errors", level: 1 }).waitFor();

    await send(url, tenant, [{ level: "info", message: "fine" }, ...failing(2)]);
    await page.getByRole("table").getByText("Fired", { exact: true }).waitFor();
    await page.getByRole("status").getByText("Firing", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("table").getByRole("link").first().click();
    await page.waitForURL((at) => at.pathname === `/w/${workspaceId}/p/${tenant.projectId}`);
    await page.getByText("broken 1").waitFor();
    expect(await page.getByText(/^broken \d$/).count()).toBe(2);
    expect(under.faults()).toEqual([]);
    await page.context().close();
  });

  it("20.6: a replay by the entries' own times says what arrived too late to fire", async () => {
    const account = { ...owner, workspaceId };
    const projectId = await createProject(url, account, "imported");
    const imported = { account, projectId, key: await createKey(url, account, projectId) };
    const timestamp = new Date(Date.now() - 6 * 60 * 60 * 1000).toISOString();
    await send(
      url,
      imported,
      failing(40).map((entry) => ({ ...entry, timestamp })),
    );
    const q = "level:>=error | count by bin(5m)";
    const page = await opened(owner, `/p/${projectId}?${new URLSearchParams({ q })}`);
    await page.getByRole("link", { name: "Create alert" }).click();
    await page.getByLabel("Value", { exact: true }).fill("10");
    await choose(page.getByLabel("Window", { exact: true }), "1 minute");
    await page.getByText("Would have fired once").waitFor();
    await page.getByRole("button", { name: "Count by the entries' times" }).click();
    await page.getByText("Would not have fired").waitFor();
    await page.getByText("40 entries arrived after their windows had been decided").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });

  it("20.6: times of a mute are typed and shown by the reader's clock, not by that of the locale", async () => {
    const page = await opened(owner, "/alerts/new");
    await page.getByLabel("Fri", { exact: true }).check();
    const from = page.getByLabel("Mute from", { exact: true });
    expect(await from.inputValue()).toBe("00:00");
    const add = page.getByRole("button", { name: "Add mute" });
    await from.fill("25:00");
    await from.press("Tab");
    await page.getByRole("alert").getByText("Must be a time, such as 22:30.").waitFor();
    expect([await from.getAttribute("aria-invalid"), await add.isDisabled()]).toEqual(["true", true]);
    expect(await axeFaults(page)).toEqual([]);
    await from.fill("10:30 pm");
    await page.getByText("Must be a time").waitFor({ state: "detached" });
    // What is chosen and not added is a change, which neither a leave nor a save loses.
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByRole("dialog", { name: "Discard changes?" }).getByRole("button", { name: "Keep editing" }).click();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("alert").getByText("Add this mute, or uncheck its days.").waitFor();
    expect(await page.getByLabel("Fri", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    expect(await axeFaults(page)).toEqual([]);
    await from.press("Enter");
    await page.getByText("Add this mute").waitFor({ state: "detached" });
    await page.getByText("Fri 22:30 – 00:00 (").waitFor();
    await page.evaluate(() => localStorage.setItem("taffrail.clock", "12"));
    await page.reload();
    await page.getByLabel("Fri", { exact: true }).check();
    expect(await from.inputValue()).toBe("12:00 AM");
    await from.fill("1845");
    await add.click();
    await page.getByText("Fri 6:45 PM – 12:00 AM (").waitFor();
    expect(await from.inputValue()).toBe("6:45 PM");
    await page.context().close();
  });

  it("20.6: an alert is muted, changed and deleted; its versions say what changed, and a viewer only reads", async () => {
    const page = await opened(owner, "/alerts");
    const list = page.getByRole("list", { name: "Alerts" });
    await list.getByRole("button", { name: "Mute" }).click();
    await page.getByRole("menuitem", { name: "For 1 hour" }).click();
    await list.getByText(/^Muted until/).waitFor();
    await list.getByRole("button", { name: "Unmute Checkout errors" }).click();
    await list.getByRole("button", { name: "Mute", exact: true }).click();
    await page.getByRole("menuitem", { name: "Other times …" }).click();
    const times = page.getByRole("dialog", { name: "Mute Checkout errors" });
    await times.getByLabel("From", { exact: true }).fill("ten past nine");
    // Not while it is typed.
    expect(await times.getByRole("alert").count()).toBe(0);
    await page.keyboard.press("Tab");
    await times.getByRole("alert").getByText("Must be a time, such as 2026-11-20 22:00.").waitFor();
    expect(await times.getByRole("button", { name: "Mute", exact: true }).isDisabled()).toBe(true);
    await times.getByLabel("From", { exact: true }).fill("2026-01-01 0:00");
    await times.getByLabel("To", { exact: true }).fill("2026-01-02 0:00");
    await page.keyboard.press("Enter");
    await times.getByRole("alert").getByText("Must be in the future.").waitFor();
    expect(await times.getByRole("button", { name: "Mute", exact: true }).isDisabled()).toBe(true);
    await times.getByLabel("From", { exact: true }).fill("0:00");
    await times.getByLabel("To", { exact: true }).fill("24:00");
    await times.getByRole("button", { name: "Mute", exact: true }).click();
    await list.getByText(/^Muted until/).waitFor();
    await list.getByRole("button", { name: "Unmute Checkout errors" }).click();
    await list.getByRole("button", { name: "Mute", exact: true }).waitFor();
    await list.getByRole("img", { name: /^Last 24 hours, at most \d/ }).waitFor();
    await list.getByRole("link", { name: "Checkout errors" }).click();
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("Recovers below").fill("1");
    const question = page.getByRole("dialog", { name: "Discard changes?" });
    await page.getByRole("link", { name: "Cancel" }).click();
    expect(await axeFaults(page, "dialog")).toEqual([]);
    await question.getByRole("button", { name: "Keep editing" }).click();
    await page.goBack();
    await question.getByRole("button", { name: "Keep editing" }).click();
    expect(await page.getByLabel("Recovers below").inputValue()).toBe("1");
    await choose(page.getByLabel("Window", { exact: true }), "5 minutes");
    await page.getByText("Saving begins the count again").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    const versions = page.getByRole("list", { name: "Versions, newest first" });
    await versions.getByText("Window:").waitFor();
    expect(await versions.getByRole("listitem").filter({ hasText: "Window:" }).last().textContent()).toBe(
      "Window: - 1 minute + 5 minutes",
    );
    await versions.getByText(owner.email).first().waitFor();

    for (const theme of ["light", "dark"] as const) {
      const seen = await opened(viewer, "/alerts", theme);
      expect(await seen.getByRole("button", { name: "Mute" }).count()).toBe(0);
      await seen.getByRole("link", { name: "Checkout errors" }).click();
      await seen.getByText("Changing alerts requires").waitFor();
      expect(await seen.getByRole("button", { name: "Delete" }).count()).toBe(0);
      await seen.getByRole("img", { name: /threshold/ }).waitFor();
      expect(await axeFaults(seen)).toEqual([]);
      expect(await tooWide(seen)).toEqual([]);
      await seen.context().close();
    }

    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No alerts" }).waitFor();
    expect(under.faults()).toEqual([]);
    await page.context().close();
  });

  it("20.6: rules as a file: errors at their lines, the difference, applied, exported, and compared by a viewer", async () => {
    const projectId = await createProject(url, tenant.account, "depot");
    const page = await opened(owner, `/alerts/file?project=${projectId}`);
    const rules = page.getByRole("textbox", { name: "Rules" });
    const lines = [
      ...["alerts:", "  - name: Errors", "    query: level:>=error | count by service"],
      ...["    condition: { kind: threshold, value: 10 }", "    window: 5 minutes", "    destinations: [On call]"],
    ];
    await rules.fill(lines.join("\n"));
    await page.getByRole("button", { name: "Compare" }).click();
    const wrong = page.getByRole("alert").getByRole("listitem");
    await wrong.filter({ hasText: 'Alert "Errors", window: Must be' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await wrong.getByRole("button", { name: "Line 5, column 5" }).click();
    await page.keyboard.type("    window: 5m".trimStart());
    expect(await rules.inputValue()).toContain("\n    window: 5m\n");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("1 to create, 0 unchanged.").waitFor();
    await page.getByRole("list", { name: "Changes" }).getByText("+ window: 5m").waitFor();
    expect(await tooWide(page)).toEqual([]);
    // Another member makes the alert after the comparison.
    const other = { name: "Errors", query: "level:>=error | count by service", window: "10m", destinations: [] };
    const condition = { kind: "threshold", value: 10 };
    const made = { ...asUser(tenant.account), body: { ...other, condition } };
    expect((await call(url, `/projects/${projectId}/alerts`, made)).status).toBe(201);
    const apply = page.getByRole("button", { name: "Apply", exact: true });
    await apply.click();
    await page.getByText("The rules changed after the comparison.").waitFor();
    await page.getByText("1 to change, 0 unchanged.").waitFor();
    await apply.click();
    await page.getByText("1 changed, 0 unchanged.").waitFor();
    // The button is gone, and the focus is on the result.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("1 changed, 0 unchanged.");
    expect(await axeFaults(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const exported = await readFile(await download.path(), "utf8");
    const written = lines.join("\n").replace("5 minutes", "5m").replace("[On call]", "[ On call ]");
    expect(exported).toBe(`${written}\n`);
    // What was applied is not lost, also when it is compared otherwise: leaving asks nothing.
    await page.getByLabel("Delete alerts that are not in the file").check();
    await page.getByRole("link", { name: "Alerts of the project" }).click();
    await page.getByRole("link", { name: "Errors" }).waitFor();
    await page.goBack();
    await rules.fill(lines.join("\n").replace("5 minutes", "5m"));
    // Nor is what the project has, which was written again.
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("No changes").waitFor();
    await page.getByLabel("Delete alerts that are not in the file").check();
    await page.getByRole("link", { name: "Alerts of the project" }).click();
    await page.getByRole("link", { name: "Errors" }).waitFor();
    await page.goBack();
    await rules.fill("alerts: []");
    // A file does not replace what was written without a question.
    const file = { name: "rules.yaml", mimeType: "application/yaml", buffer: Buffer.from("alerts: [] # None\n") };
    await page.getByLabel("File of rules").setInputFiles(file);
    const replacing = page.getByRole("dialog", { name: "Replace the text?" });
    await replacing.getByText("The file replaces the text in the editor.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await replacing.getByRole("button", { name: "Cancel" }).click();
    expect(await rules.inputValue()).toBe("alerts: []");
    await page.getByLabel("File of rules").setInputFiles(file);
    await replacing.getByRole("button", { name: "Replace" }).click();
    await expect.poll(() => rules.inputValue()).toBe("alerts: [] # None\n");
    await page.getByText("No changes").waitFor();
    // A dropped file is read like a chosen one. The browser opens a file that the editor does not take.
    const taken = await rules.evaluate((editor) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["alerts: [] # Dropped\n"], "rules.yaml"));
      const init = { dataTransfer, bubbles: true, cancelable: true };
      return ["dragover", "drop"].map((type) => !editor.dispatchEvent(new DragEvent(type, init)));
    });
    expect(taken).toEqual([true, true]);
    await replacing.getByRole("button", { name: "Replace" }).click();
    await expect.poll(() => rules.inputValue()).toBe("alerts: [] # Dropped\n");
    await page.getByText("No changes").waitFor();
    await page.getByRole("button", { name: "Load current rules" }).click();
    expect(await rules.inputValue()).not.toBe(exported);
    await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
    await expect.poll(() => rules.inputValue()).toBe(exported);
    await page.context().close();

    // A viewer compares a file, also one without the rule, and has nothing to apply.
    const seen = await opened(viewer, `/alerts/file?project=${projectId}`, "dark");
    await seen.getByLabel("File of rules").setInputFiles({
      ...{ name: "rules.yaml", mimeType: "application/yaml" },
      buffer: Buffer.from(exported.replace("window: 5m", "window: 10m")),
    });
    await seen.getByText("1 to change, 0 unchanged.").waitFor();
    await seen.getByText("counts again from the beginning").waitFor();
    await seen.getByText("Changing alerts requires").waitFor();
    expect(await seen.getByRole("button", { name: "Apply", exact: true }).count()).toBe(0);
    await seen.getByRole("textbox", { name: "Rules" }).fill("alerts: []");
    await seen.getByLabel("Delete alerts that are not in the file").check();
    await seen.getByRole("button", { name: "Compare" }).click();
    await seen.getByText("1 to delete, 0 unchanged.").waitFor();
    // What was written here is nowhere else.
    await seen.getByRole("link", { name: "Alerts of the project" }).click();
    const discard = seen.getByRole("dialog", { name: "Discard changes?" });
    await discard.getByText("The changes to the rules have not been saved.").waitFor();
    await discard.getByRole("button", { name: "Keep editing" }).click();
    expect(await seen.getByRole("textbox", { name: "Rules" }).inputValue()).toBe("alerts: []");
    await seen.setViewportSize({ width: 360, height: 740 });
    expect(await tooWide(seen)).toEqual([]);
    expect(await axeFaults(seen)).toEqual([]);
    expect(await beyondTab(seen)).toEqual([]);
    expect(under.faults()).toEqual([]);
    await seen.context().close();
  });

  it("20.4: the holder of an address confirms mails of alerts and stops them, without an account", async () => {
    const email = newEmail();
    const body = { kind: "email", name: "Night shift", email };
    await call(url, `/workspaces/${workspaceId}/destinations`, { ...asUser(tenant.account), body });
    const link = await linkMailedTo(url, email, "confirm-address");
    const context = await under.open({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const isFine = async (look: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([look, await axeFaults(page)]).toEqual([look, []]);
      }
      expect([look, await tooWide(page)]).toEqual([look, []]);
    };
    await page.goto(link);
    // The token stays out of the address bar, and nothing is done before a click.
    await page.getByRole("button", { name: "Show" }).click();
    expect(new URL(page.url()).hash).toBe("");
    await page.getByText("May alerts of the workspace “Lighthouse” (Night shift) be mailed to").waitFor();
    await isFine("asks");
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Alerts of the workspace “Lighthouse” (Night shift) are mailed to").waitFor();
    await page.getByRole("button", { name: "Stop mails" }).click();
    await page.getByRole("heading", { name: "Mails stopped" }).waitFor();
    await isFine("stopped");
    await page.goto(`${url}/auth/address#token=vt_${"a".repeat(55)}`);
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
    expect(under.faults()).toEqual([]);
    await context.close();
  });
});
