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

describe("the way to the first entry", () => {
  it("names who makes keys to a member, and projects to a viewer", async () => {
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
    await look.getByText("Ask an owner, an admin, or a member to make one.").waitFor();
    expect(await look.getByRole("link", { name: "Make a project" }).count()).toBe(0);
    await page.goto("/");
    await page.getByText("Ask an owner or an admin for an API key for it.").waitFor();
    await page.goto(`/w/${workspaceId}`);
    await page.getByText("Make one, then ask an owner or an admin for a key to send with.").waitFor();
    await page.getByRole("link", { name: "Make a project" }).click();
    await page.getByText("ask an owner or an admin for an API key for it").waitFor();
    await page.getByRole("button", { name: "Create a project" }).click();
    await page.getByLabel("Name").fill("shop");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("shop is there. Ask an owner or an admin for a key to send with.").waitFor();
    await page.getByRole("link", { name: "shop", exact: true }).click();
    await page.getByText("Ask an owner or an admin for a key of this project, and put it into").waitFor();
    // Once there is one, the page says so.
    const projectId = new URL(page.url()).pathname.split("/").at(-1);
    const body = { name: "backend", scopes: ["logs:write"] };
    const options = { token: owner.accessToken, workspaceId, body };
    expect((await call(url, `/projects/${projectId}/keys`, options)).status).toBe(201);
    await page.reload();
    await page.getByText("Put the key backend (ask an owner or an admin for it) into").waitFor();
    await Promise.all([page.context().close(), look.context().close()]);
  });

  it("leads from a project to its key, says how to install the library, and ends in the project's logs", async () => {
    const account = await register(url);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(settingsPath(account.workspaceId, "projects"));
    await page.getByRole("button", { name: "Create a project" }).click();
    await page.getByLabel("Name").fill("shop");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("link", { name: "Make a key for it next" }).click();
    await page.waitForURL("**/settings/keys?project=proj_*");
    const projectId = new URL(page.url()).searchParams.get("project");
    const make = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "Create a key" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create the key" }).click();
    };
    await make("backend");
    const dialog = page.getByRole("dialog", { name: "The key backend" });
    await dialog.getByText(INSTALLING).waitFor();
    await dialog.getByRole("link", { name: "It is stored: open the logs" }).click();
    await page.waitForURL(`**/w/${account.workspaceId}/p/${projectId}*`);
    await page.getByText("Put the key backend (or another of its API keys) into").waitFor();
    await page.getByRole("link", { name: "API keys", exact: true }).click();
    await page.waitForURL(`**/settings/keys?project=${projectId}`);
    await make("second");
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("link", { name: "Open the logs", exact: true }).click();
    await page.waitForURL(`**/w/${account.workspaceId}/p/${projectId}*`);
    await page.context().close();
  });

  it("offers to make a key where none may send", async () => {
    const account = await register(url);
    const projectId = await createProject(url, account, "shop");
    await createKey(url, account, projectId, ["logs:read"]);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto(`/w/${account.workspaceId}/p/${projectId}`);
    await page.getByText("Make a key under API keys, put it into").waitFor();
    await page.context().close();
  });

  it("says in the playground, too, how to install the library", async () => {
    const page = await (await under.open()).newPage();
    await page.goto("/playground");
    await page.getByRole("tab", { name: "Client library" }).click();
    await page.getByText(INSTALLING).waitFor();
    await page.context().close();
  });
});

it("breaks no rule of the policy", () => {
  expect(under.faults()).toEqual([]);
});
