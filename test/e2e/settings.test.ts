import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asUser, call, createProject, register } from "../support/api.ts";
import { choose } from "./support/choose.ts";
import { type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";
import { openSettings, settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
});

afterAll(() => under?.close());

/** Sends one entry and returns the status. */
async function send(projectId: string, key: string): Promise<number> {
  const answer = await call(url, `/logger/${projectId}/log`, { token: key, body: { message: "Hello" } });
  return answer.status;
}

/** The n-th text to copy in the dialog that shows a secret. */
async function shown(dialog: Locator, n: number): Promise<string> {
  return (await dialog.locator("pre").nth(n).textContent()) ?? "";
}

describe("projects and keys", () => {
  it("leads from the first steps to a key that sends, is rotated and is deleted", async () => {
    const account = await register(url);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(settingsPath(account.workspaceId, "projects"));
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByLabel("Name").fill("shop");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("link", { name: "Create an API key" }).click();
    await page.waitForURL("**/settings/keys?project=proj_*");
    const projectId = new URL(page.url()).searchParams.get("project") ?? "";

    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByLabel("Name").fill("backend");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "API key backend" });
    const secret = await shown(dialog, 0);
    expect(secret).toMatch(/^sk_[0-9A-Za-z]{48}$/);
    expect(await shown(dialog, 1)).toContain(`Authorization: Bearer ${secret}`);
    expect(await shown(dialog, 2)).toContain(`projectId: "${projectId}"`);
    // Only the button closes the dialog.
    await page.mouse.click(5, 5);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await dialog.getByRole("alert").waitFor();
    expect(await send(projectId, secret)).toBe(201);
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);

    await page.getByRole("link", { name: "Projects" }).click();
    const entries = page.getByRole("listitem").filter({ hasText: "shop" });
    await entries.getByText("Entries1").waitFor();
    expect(await send(projectId, secret)).toBe(201);
    // Without a reload: the list polls.
    await entries.getByText("Entries2").waitFor();

    await page.getByRole("link", { name: "Keys of shop" }).click();
    await page.getByRole("button", { name: "Rotate backend" }).click();
    await choose(page.getByLabel("Overlap"), "1 hour");
    await page.getByRole("button", { name: "Create new key" }).click();
    const successor = await shown(dialog, 0);
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    expect([await send(projectId, secret), await send(projectId, successor)]).toEqual([201, 201]);
    const old = page.getByRole("listitem").filter({ hasText: secret.slice(0, 18) });
    await old.getByText("ends soon").waitFor();

    await old.getByRole("button", { name: "Delete backend" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete key" }).click();
    await page.getByRole("button", { name: "Show 1 deleted key" }).click();
    await old.getByText("deleted", { exact: true }).waitFor();
    await old.getByText(`Deleted by${account.email} Audit of backend`).waitFor();
    expect([await send(projectId, secret), await send(projectId, successor)]).toEqual([401, 201]);
    await page.context().close();
  });

  it("creates a key by keyboard alone", async () => {
    const account = await register(url);
    const projectId = await createProject(url, account);
    const page = await openSettings(under, account, `keys?project=${projectId}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const { keyboard } = page;
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? "");
    const tabTo = async (text: string): Promise<void> => {
      for (let steps = 0; steps < 40 && (await focused()) !== text; steps++) await keyboard.press("Tab");
      expect(await focused()).toBe(text);
    };
    await page.getByRole("button", { name: "Create key" }).waitFor();
    await tabTo("Create key");
    await keyboard.press("Enter");
    // The focused name and the two scopes.
    await page.getByRole("dialog").waitFor();
    await keyboard.type("by hand");
    await keyboard.press("Tab");
    await keyboard.press("Tab");
    await keyboard.press("Space");
    await tabTo("Create");
    await keyboard.press("Enter");
    await page.getByRole("dialog", { name: "API key by hand" }).waitFor();
    await tabTo("Copy key");
    await keyboard.press("Enter");
    await page.getByText("Copied", { exact: true }).waitFor();
    const secret = await page.evaluate(() => navigator.clipboard.readText());
    await tabTo("I have stored it");
    await keyboard.press("Enter");
    const key = page.getByRole("listitem").filter({ hasText: "by hand" });
    await key.getByText("logs:write, logs:read").waitFor();
    await expect.poll(focused).toBe("Create key");
    expect(await send(projectId, secret)).toBe(201);
    await page.context().close();
  });

  it("renames a project, and deletes a project after its name is typed", async () => {
    const account = await register(url);
    await createProject(url, account, "first");
    const page = await openSettings(under, account, "projects");
    await page.getByRole("button", { name: "Rename first" }).click();
    await page.getByLabel("Name", { exact: true }).fill("second");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("button", { name: "Delete second" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete project" });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel("Type the name to confirm").fill("second");
    await confirm.click();
    await page.getByRole("heading", { name: "No projects yet" }).waitFor();
    await page.context().close();
  });
});

describe("the workspace", () => {
  it("saves a new retention, confirms a shorter one and shows the error for an invalid one", async () => {
    const account = await register(url);
    const page = await openSettings(under, account, "general");
    const days = page.getByLabel("Keep entries (days)");
    const save = page.getByRole("button", { name: "Save" });
    const kept = async (): Promise<unknown> => {
      const answer = await call<{ retentionDays: number }>(url, `/workspaces/${account.workspaceId}`, asUser(account));
      return answer.body.data.retentionDays;
    };
    await days.fill("400");
    await save.click();
    await page.getByRole("alert").getByText("365").waitFor();
    await days.fill("90");
    await save.click();
    await page.getByText("Settings saved.").waitFor();
    expect(await kept()).toBe(90);
    await days.fill("7");
    await save.click();
    await page.getByRole("heading", { name: "Shorten retention?" }).waitFor();
    expect(await kept()).toBe(90);
    await page.getByRole("button", { name: "Shorten to 7 days" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await kept()).toBe(7);
    await page.reload();
    await expect.poll(() => days.inputValue()).toBe("7");
    await page.context().close();
  });

  it("cannot be created without a confirmed address, and links to the confirmation", async () => {
    const page = await (await under.open({ as: await register(url) })).newPage();
    await page.goto("/");
    await page.getByRole("button", { name: "Create workspace" }).click();
    const dialog = page.getByRole("dialog", { name: "Create workspace" });
    await dialog.getByRole("heading", { name: "Confirm your e-mail address first" }).waitFor();
    expect(await dialog.getByRole("link").getAttribute("href")).toBe("/auth/account");
    await page.context().close();
  });

  it("is created, and deleted with its content after its name is typed", async () => {
    const account = await verifiedAccount(url);
    const page = await openSettings(under, account, "general");
    await page.waitForLoadState("networkidle");
    const lists: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/workspaces?limit=")) lists.push(request.url());
    });
    for (const section of ["general", "keys", "danger"]) {
      lists.length = 0;
      await page.goto(settingsPath(account.workspaceId, section));
      await page.waitForLoadState("networkidle");
      expect([section, lists.length]).toEqual([section, 1]);
    }
    await page.goto(settingsPath(account.workspaceId, "general"));
    await page.getByRole("button", { name: "Create workspace" }).click();
    lists.length = 0;
    await page.getByLabel("Name", { exact: true }).last().fill("Ours");
    await page.getByLabel("Slug (optional)").fill("Not a slug");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("alert").getByText("must be lowercase").waitFor();
    await page.getByLabel("Slug (optional)").fill("");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    // The next step of a new workspace is a project.
    await page.waitForURL("**/settings/projects");
    await page.getByRole("heading", { name: "No projects yet" }).waitFor();
    expect(lists).toHaveLength(1);
    await page.getByRole("link", { name: "Danger zone" }).click();
    await page.getByRole("button", { name: "Delete workspace" }).click();
    await page.getByLabel("Type the name to confirm").fill("Ours");
    await page.getByRole("dialog").getByRole("button", { name: "Delete workspace" }).click();
    await page.getByRole("heading", { name: "Your workspaces" }).waitFor();
    const left = await call<{ items: { id: string }[] }>(url, "/workspaces", { token: account.accessToken });
    expect(left.body.data.items.map(({ id }) => id)).toEqual([account.workspaceId]);
    await expect.poll(() => page.getByRole("heading", { name: "Ours" }).count()).toBe(0);

    await page.goto(settingsPath(account.workspaceId, "danger"));
    await page.getByText("A personal workspace is deleted with its account.").waitFor();
    expect(await page.getByRole("button", { name: "Delete workspace" }).isDisabled()).toBe(true);
    await page.context().close();
  });

  it("shows its usage", async () => {
    const account = await verifiedAccount(url);
    const workspaceId = await sharedWorkspace(url, account, "Counted");
    const page = await openSettings(under, account, "usage", workspaceId);
    await page.getByRole("listitem").filter({ hasText: "Received today" }).getByText("Entries0").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Status" }).getByText("OK").waitFor();
    await page.context().close();
  });

  it("is not found by users who are not members", async () => {
    const page = await (await under.open({ as: await register(url) })).newPage();
    await page.goto(settingsPath("ws_000000000000", "keys"));
    await page.getByRole("heading", { name: "Workspace not found" }).waitFor();
    await page.context().close();
  });
});

it("contacts no other origin and violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
