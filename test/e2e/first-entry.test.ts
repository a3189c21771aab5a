import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, createKey, createProject, register } from "../support/api.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { libraryHooks } from "./support/library.ts";
import { join, settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
});

afterAll(() => under?.close());

const INSTALLING = "npm pack -w sdk";

describe("the steps to the first entry", () => {
  it("name the roles that create keys to a member, and those that create projects to a viewer", async () => {
    const [owner, member, viewer] = await Promise.all([
      verifiedAccount(url),
      verifiedAccount(url),
      verifiedAccount(url),
    ]);
    const workspaceId = await sharedWorkspace(url, owner, "Shared");
    await join(url, { workspaceId, owner, guest: member, role: "member" });
    await join(url, { workspaceId, owner, guest: viewer, role: "viewer" });
    const opened = async (as: Account) => (await under.open({ as })).newPage();
    const [page, look] = await Promise.all([opened(member), opened(viewer)]);
    await look.goto(`/w/${workspaceId}`);
    await look.getByText("Ask an owner, an admin, or a member to create one.").waitFor();
    expect(await look.getByRole("link", { name: "Create project" }).count()).toBe(0);
    await page.goto("/");
    await page.getByText("Ask an owner or an admin for an API key.").waitFor();
    await page.goto(`/w/${workspaceId}/start`);
    await page.getByText("Ask an owner or an admin for an API key of it afterwards.").waitFor();
    await look.goto(`/w/${workspaceId}/start`);
    await look.getByText("Ask an owner, an admin, or a member to create one.").waitFor();
    await page.goto(`/w/${workspaceId}`);
    await page.getByText("Create a project, then ask an owner or an admin for an API key.").waitFor();
    await page.getByRole("link", { name: "Create project" }).click();
    await page.getByText("ask an owner or an admin for an API key").waitFor();
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByLabel("Name").fill("shop");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Created shop. Ask an owner or an admin for an API key.").waitFor();
    await page.getByRole("link", { name: "shop", exact: true }).click();
    await page.getByText("Ask an owner or an admin for a key of this project, and put it into").waitFor();
    // Once a key exists, the page names it.
    const projectId = new URL(page.url()).pathname.split("/").at(-1);
    const body = { name: "backend", scopes: ["logs:write"] };
    const options = { token: owner.accessToken, workspaceId, body };
    expect((await call(url, `/projects/${projectId}/keys`, options)).status).toBe(201);
    await page.reload();
    await page.getByText("Put the key backend (ask an owner or an admin for it) into").waitFor();
    await Promise.all([page.context().close(), look.context().close()]);
  });

  it.each(["light", "dark"] as const)(
    "fit on one page, which has no axe violations and turns green, %s",
    async (colorScheme) => {
      const account = await register(url);
      const page = await (await under.open({ as: account, colorScheme })).newPage();
      await page.goto("/");
      await page.getByRole("link", { name: "Send the first entry" }).click();
      // The page focuses its first field.
      await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
      expect(await axeFaults(page)).toEqual([]);
      await page.keyboard.type("shop");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Send the first entry of shop" }).waitFor();
      await page.getByText("Waiting for the first entry").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await tooWide(page)).toEqual([]);
      const { text, environment } = await shown(page, "curl");
      expect(await run("sh", ["-c", `${environment}\n${text}`])).toContain('"accepted":1');
      // Nothing was clicked.
      await page.getByText("The first entry is here").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole("link", { name: "Open the entry" }).click();
      await page.waitForURL("**/p/proj_*?entry=log_*");
      await page.locator("[data-row]").filter({ hasText: "Hello from curl" }).first().waitFor();
      await page.context().close();
    },
  );

  it("have programs that run as they are shown", async () => {
    const account = await register(url);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(`/w/${account.workspaceId}/start`);
    await page.getByLabel("Name of the project").fill("shop");
    await page.getByRole("button", { name: "Create project and key" }).click();
    await page.getByRole("button", { name: "Send one from here" }).click();
    await page.getByText("Hello from the console").waitFor();
    const directory = mkdtempSync(path.join(tmpdir(), "taffrail-start-"));
    const store = (name: string, text: string): string => {
      writeFileSync(path.join(directory, name), text);
      return path.join(directory, name);
    };
    const programs = [
      ["Node", "send.mjs", (file: string) => [process.execPath, file]],
      ["Client library", "log.mjs", (file: string) => [process.execPath, "--import", libraryHooks(directory), file]],
      ["Python", "send.py", (file: string) => ["python3", file]],
      ["Java", "Main.java", (file: string) => ["java", file]],
    ] as const;
    try {
      const ran = [];
      for (const [title, name, command] of programs) {
        const { text, environment } = await shown(page, title);
        const file = store(name, text);
        if (spawnSync(command(file)[0] ?? "", ["--version"]).status !== 0) continue;
        const line = command(file)
          .map((part) => `'${part}'`)
          .join(" ");
        const printed = await run("sh", ["-c", `${environment}\n${line}`]);
        // The page says so.
        if (title !== "Client library") expect(printed, title).toMatch(/^200 /);
        ran.push(title);
      }
      expect(ran).toEqual(expect.arrayContaining(["Node", "Client library"]));
      const { text } = await shown(page, "OpenTelemetry");
      const variables = await run("sh", [
        "-c",
        `${text
          .split("\n")
          .filter((line) => line.startsWith("export "))
          .join("\n")}\nenv`,
      ]);
      const variable = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(variables)?.[1] ?? "";
      const [name = "", token = ""] = variable("OTEL_EXPORTER_OTLP_HEADERS").split("=", 2);
      const sent = await fetch(`${variable("OTEL_EXPORTER_OTLP_ENDPOINT")}/v1/logs`, {
        method: "POST",
        headers: { [name]: decodeURIComponent(token), "Content-Type": "application/json" },
        body: JSON.stringify({
          resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: "Hello from OpenTelemetry" } }] }] }],
        }),
      });
      expect(sent.status).toBe(200);
      const projectId = new URL(page.url()).searchParams.get("project") ?? "";
      const found = await call<{ logs: { message: string }[] }>(url, "/logger/query", {
        ...asUser(account),
        body: { projectId, order: "asc" },
      });
      const messages = found.body.data.logs.map(({ message }) => message);
      expect(messages).toEqual(expect.arrayContaining(["Hello from the console", "Hello from OpenTelemetry"]));
      for (const title of ran)
        expect(messages).toContain(
          title === "Client library" ? "Hello from the client library" : `Hello from ${title}`,
        );
      // The key is gone with the page.
      await page.reload();
      await page
        .getByRole("button", { name: "Open the entry" })
        .or(page.getByRole("link", { name: "Open the entry" }))
        .waitFor();
      expect(await page.content()).not.toMatch(/sk_\w{30,}/);
    } finally {
      rmSync(directory, { recursive: true });
      await page.context().close();
    }
  });

  it("ask before the key is left, and forget it once it is deleted", async () => {
    const account = await register(url);
    const projectId = await createProject(url, account, "shop");
    const context = await under.open({ as: account, permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    const start = `/w/${account.workspaceId}/start?project=${projectId}`;
    await page.goto("/");
    await page.getByRole("region", { name: "E-mail address" }).waitFor();
    await page.getByRole("link", { name: "Send the first entry of shop" }).click();
    await page.waitForURL(`**${start}`);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "Send one from here" }).waitFor();
    expect(await page.content()).toMatch(/sk_\w{30,}/);
    // Without a load of the document, which has no secret in any case.
    const go = (to: string) =>
      page.evaluate((href) => {
        const link = Object.assign(document.createElement("a"), { href });
        document.body.append(link);
        link.click();
        link.remove();
      }, to);
    const keys = `/w/${account.workspaceId}/settings/keys?project=${projectId}`;
    await go(keys);
    const question = page.getByRole("dialog", { name: "Leave without the key?" });
    await question.waitFor();
    expect(await axeFaults(page, "dialog")).toEqual([]);
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "hidden" });
    expect(new URL(page.url()).pathname).toBe(`/w/${account.workspaceId}/start`);
    // Closing the tab is asked for by the browser.
    const asked = page.waitForEvent("dialog");
    const closing = page.close({ runBeforeUnload: true });
    const prompt = await asked;
    expect(prompt.type()).toBe("beforeunload");
    await prompt.dismiss();
    await closing;
    // A command, and the way back in the history.
    await page.getByRole("link", { name: "Skip to the logs" }).focus();
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "hidden" });
    await page.goBack();
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "hidden" });
    expect(new URL(page.url()).pathname).toBe(`/w/${account.workspaceId}/start`);
    // A leave that fails: the page is still there, and asks again.
    await page.evaluate((href) => {
      const link = Object.assign(document.createElement("a"), { href, textContent: "Nowhere" });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        event.stopPropagation();
      });
      document.body.append(link);
      link.click();
    }, keys);
    await question.getByRole("button", { name: "Leave without the key" }).click();
    await page.waitForFunction(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    await page.getByRole("link", { name: "Skip to the logs" }).click();
    await question.getByRole("button", { name: "Leave without the key" }).click();
    await page.waitForURL(`**/p/${projectId}`);
    // What was left behind on purpose is not asked for when the user has come back.
    await go(start);
    await page.getByRole("button", { name: "Send one from here" }).waitFor();
    await go(keys);
    await page.getByRole("button", { name: /^Delete/ }).click();
    await page.getByRole("button", { name: "Delete key" }).click();
    await page.getByText("Deleted First key.").waitFor();
    await go(start);
    // The page of the keys has a button of the same name.
    await page.getByRole("heading", { name: "Send the first entry of shop" }).waitFor();
    await page.getByRole("button", { name: "Create key" }).waitFor();
    expect(await page.getByRole("button", { name: "Send one from here" }).count()).toBe(0);
    expect(await page.content()).not.toMatch(/sk_\w{30,}/);

    // By another tab: the page learns of it as soon as it is opened again.
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "Copy key" }).click();
    await page.getByText("Copied").waitFor();
    await go(keys);
    await page.getByRole("button", { name: /^Delete/ }).waitFor();
    const listed = await call<{ items: { id: string; revokedAt: string | null }[] }>(
      url,
      `/projects/${projectId}/keys`,
      asUser(account),
    );
    const id = listed.body.data.items.find(({ revokedAt }) => revokedAt === null)?.id;
    const ended = await call(url, `/projects/${projectId}/keys/${id}`, { ...asUser(account), method: "DELETE" });
    expect(ended.status).toBe(200);
    await go(start);
    // The page of the keys has a button of the same name.
    await page.getByRole("heading", { name: "Send the first entry of shop" }).waitFor();
    await page.getByRole("button", { name: "Create key" }).waitFor();
    expect(await page.content()).not.toMatch(/sk_\w{30,}/);

    await page.getByRole("button", { name: "Create key" }).click();
    // The page's own entry does not prove that a program has the key.
    await page.getByRole("button", { name: "Send one from here" }).click();
    await page.getByText("The first entry is here").waitFor();
    await page.getByRole("link", { name: "Open the entry" }).click();
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Sign out" }).click();
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "hidden" });
    // Once it is copied, nothing is lost.
    await page.getByRole("button", { name: "Copy key" }).click();
    await page.getByText("Copied").waitFor();
    await page.getByRole("link", { name: "Open the entry" }).click();
    await page.waitForURL("**/p/proj_*?entry=log_*");
    await page.context().close();
  });

  it("show the waiting panel beside every program, without scrolling", async () => {
    const account = await register(url);
    const projectId = await createProject(url, account, "shop");
    const page = await (await under.open({ as: account })).newPage();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`/w/${account.workspaceId}/start?project=${projectId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const waiting = page.getByRole("region", { name: "First entry" });
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      const box = await waiting.boundingBox();
      const end = box === null ? Number.POSITIVE_INFINITY : box.y + box.height;
      expect(end, (await tab.textContent()) ?? "").toBeLessThanOrEqual(900);
      expect(await page.getByRole("tabpanel").locator("pre [data-kind]").count()).toBeGreaterThan(0);
    }
    await page.getByRole("tab", { name: "Docker" }).click();
    await page.mouse.move(900, 600);
    await page.mouse.wheel(0, 2000);
    await page.waitForFunction(() => (document.querySelector("h1")?.getBoundingClientRect().bottom ?? 0) < 0);
    expect((await waiting.boundingBox())?.y ?? -1).toBeGreaterThanOrEqual(0);
    await page.context().close();
  });

  it("lead from a project to its key, explain how to install the library, and end in the project's logs", async () => {
    const account = await register(url);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(settingsPath(account.workspaceId, "projects"));
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByLabel("Name").fill("shop");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("link", { name: "Create an API key" }).click();
    await page.waitForURL("**/settings/keys?project=proj_*");
    const projectId = new URL(page.url()).searchParams.get("project");
    const make = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create", exact: true }).click();
    };
    await make("backend");
    const dialog = page.getByRole("dialog", { name: "API key backend" });
    await dialog.getByText(INSTALLING).waitFor();
    await dialog.getByRole("link", { name: "Stored, open logs" }).click();
    await page.waitForURL(`**/w/${account.workspaceId}/p/${projectId}*`);
    await page.getByText("Put the key backend (or another of the project's API keys) into").waitFor();
    await page.getByRole("link", { name: "API keys", exact: true }).click();
    await page.waitForURL(`**/settings/keys?project=${projectId}`);
    await make("second");
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("link", { name: "Open logs", exact: true }).click();
    await page.waitForURL(`**/w/${account.workspaceId}/p/${projectId}*`);
    await page.context().close();
  });

  it("offer to create a key if no key may send", async () => {
    const account = await register(url);
    const projectId = await createProject(url, account, "shop");
    await createKey(url, account, projectId, ["logs:read"]);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(`/w/${account.workspaceId}/p/${projectId}`);
    await page.getByText("Create a key under API keys, put it into").waitFor();
    await page.context().close();
  });

  it("explain in the playground, too, how to install the library", async () => {
    const page = await (await under.open()).newPage();
    await page.goto("/playground");
    await page.getByRole("button", { name: "Send entries" }).click();
    await page.getByRole("tab", { name: "Application" }).click();
    await page.getByText(INSTALLING).waitFor();
    await page.context().close();
  });
});

/** The texts that the page shows for a language or client. */
async function shown(page: Page, title: string): Promise<{ text: string; environment: string }> {
  await page.getByRole("tab", { name: title, exact: true }).click();
  const boxes = await page.getByRole("tabpanel").locator("pre").allTextContents();
  return { text: boxes.at(-1) ?? "", environment: boxes.length > 1 ? (boxes[0] ?? "") : "" };
}

async function run(file: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(file, [...args])).stdout;
}

it("violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
