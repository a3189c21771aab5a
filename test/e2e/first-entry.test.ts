import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, call, createKey, createProject, register } from "../support/api.ts";
import { type ConsoleUnderTest, startConsole } from "./support/console.ts";
import { join, settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  under = await startConsole();
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
    await page.getByRole("tab", { name: "Application" }).click();
    await page.getByText(INSTALLING).waitFor();
    await page.context().close();
  });
});

it("violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
