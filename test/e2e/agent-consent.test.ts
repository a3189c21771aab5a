import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, createProject, createTenant, register, type Tenant } from "../support/api.ts";
import { signIn } from "./support/account.ts";
import { type AgentProgram, startAgentProgram } from "./support/agent-program.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";

let console: ConsoleUnderTest;
let tenant: Tenant;
let program: AgentProgram;

beforeAll(async () => {
  console = await startSharedConsole();
  const { url } = console.server;
  [tenant, program] = await Promise.all([createTenant(url), startAgentProgram(url)]);
});

afterAll(async () => {
  program?.close();
  await console?.close();
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const ask = (token: string) =>
  call(console.server.url, "/mcp", { token, headers: { Accept: "application/json, text/event-stream" }, body: list });

describe("consent", () => {
  it("21.3: returns to the request after a sign-in, gives what the user chooses, and the account page ends it", async () => {
    const { account, projectId } = tenant;
    await createProject(console.server.url, account, "not for agents");
    const context = await console.open();
    const page = await context.newPage();
    const asked = await program.authorization();
    await page.goto(asked.url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(page, account.email, account.password);
    await page.getByRole("heading", { name: "Allow access" }).waitFor();
    await page.getByText("Night agent").waitFor();
    await page.getByText("The name is not verified.").waitFor();
    await page.getByText("this computer").waitFor();
    await page.getByText(account.email).first().waitFor();
    // Without a scope of the request an agent reads and no more, unless the user adds to it.
    expect(await page.getByLabel("Read logs").isChecked()).toBe(true);
    expect(await page.getByLabel("Create alerts").isChecked()).toBe(false);
    await page.getByLabel("Selected").check();
    expect(await page.getByRole("button", { name: "Allow" }).isDisabled()).toBe(true);
    await page.getByLabel("test", { exact: true }).check();
    await page.getByLabel("Save views").check();
    await page.setViewportSize({ width: 360, height: 740 });
    expect([await axeFaults(page), await tooWide(page), await beyondTab(page)]).toEqual([[], [], []]);
    await page.getByRole("button", { name: "Allow" }).click();
    const tokens = await program.exchange(await program.answerIn(page), asked);
    expect(tokens.scope).toBe("logs:read views:write");
    expect((await ask(tokens.access_token)).status).toBe(200);
    const grants = await call<{ items: { projects: { id: string }[] }[] }>(console.server.url, "/oauth/grants", {
      token: account.accessToken,
    });
    expect(grants.body.data.items.map(({ projects }) => projects.map(({ id }) => id))).toEqual([[projectId]]);
    await page.goto(`${console.server.url}/w/${account.workspaceId}/settings/agents`);
    const inWorkspace = page.getByRole("list", { name: "AI agents" });
    await inWorkspace.getByRole("button", { name: "End access of Night agent" }).waitFor();
    expect(await inWorkspace.textContent()).toContain(account.email);
    await page.goto(`${console.server.url}/auth/account`);
    await page.getByRole("button", { name: "End access of Night agent" }).click();
    await page.getByText("No agent has access.").waitFor();
    expect((await ask(tokens.access_token)).status).toBe(401);
    await context.close();
  });

  it("21.3: gives nothing without a click, takes a refusal to the program, and cannot be framed", async () => {
    const account = await register(console.server.url);
    const context = await console.open({ as: account });
    const page = await context.newPage();
    const { url, state } = await program.authorization({ scope: "logs:read" });
    const response = await page.goto(url);
    expect(response?.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
    await page.getByRole("button", { name: "Refuse" }).waitFor();
    expect(await page.getByLabel("Create alerts").count()).toBe(0);
    await page.getByRole("button", { name: "Refuse" }).click();
    const answer = await program.answerIn(page);
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({
      error: "access_denied",
      state,
      iss: program.as.issuer,
    });
    const grants = await call(console.server.url, "/oauth/grants", { token: account.accessToken });
    expect(grants.body.data).toEqual({ items: [] });
    await context.close();
  });

  it("21.3: never leaves for a receiver that is not the client's, and says what is wrong", async () => {
    const context = await console.open({ as: tenant.account });
    const page = await context.newPage();
    const count = program.answers.length;
    for (const [change, words] of [
      [{ redirect_uri: "https://evil.example.com/" }, "The redirect_uri is not one of the client's."],
      [{ client_id: "cl_unknown" }, "The client is not registered here."],
      [{ client_id: "https://169.254.169.254/client.json" }, "The client_id must name a public host."],
    ] as const) {
      await page.goto((await program.authorization(change)).url);
      await page.getByText(words).waitFor();
      expect(await page.getByRole("button", { name: /Allow|Back to the program/ }).count()).toBe(0);
    }
    await page.goto((await program.authorization({ code_challenge_method: "plain" })).url);
    await page.getByRole("button", { name: "Back to the program" }).waitFor();
    expect(program.answers).toHaveLength(count);
    await context.close();
  });
});
