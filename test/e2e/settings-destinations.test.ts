import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, asUser, call, createProject, createTenant, type Page, register } from "../support/api.ts";
import { nextMail } from "../support/outbox.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";
import { openSettings, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let owner: Account;
let status = 200;
const got: { headers: Record<string, string>; body: string }[] = [];

const receiver = createServer((request, response) => {
  let body = "";
  request
    .setEncoding("utf8")
    .on("data", (text: string) => {
      body += text;
    })
    .on("end", () => {
      got.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(status).end("seen by the receiver");
    });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  under = await startConsole({ env: { OUTBOUND_NETWORK: "loopback" } });
  owner = await register(under.server.url);
});

afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await under?.close();
});

it("creates a webhook, shows its secret once, tests it with the answer shown, and lists what was delivered", async () => {
  // SAFETY: it listens on a TCP port.
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const page = await openSettings(under, owner, "destinations");
  await page.getByText("No destinations").waitFor();
  await page.getByRole("button", { name: "Create destination" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("On call");
  await dialog.getByLabel("URL").fill("http://10.0.0.1/");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("must be an https URL").waitFor();
  await dialog.getByLabel("URL").fill(url);
  await dialog.getByLabel("Daily canary").check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("The secret is shown only once.").waitFor();
  const secret = (await dialog.locator("pre").textContent()) ?? "";
  // Escape would lose it.
  await page.keyboard.press("Escape");
  const question = page.getByRole("dialog", { name: "Leave without the secret?" });
  await question.getByRole("button", { name: "Stay" }).click();
  await question.waitFor({ state: "hidden" });
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  expect(await page.content()).not.toContain(secret);

  // The canary of a new destination arrives without a click.
  await expect.poll(() => got.length, { timeout: 20_000 }).toBe(1);
  const { body = "", headers = {} } = got[0] ?? {};
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: "alert.canary" });

  const item = page.getByRole("list", { name: "Destinations" });
  status = 503;
  await item.getByRole("button", { name: "Test On call" }).click();
  await item.getByRole("status").getByText("The receiver answered 503.").waitFor();
  await item.getByText("seen by the receiver").waitFor();
  await item.getByText("Last failed").waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await item.getByRole("button", { name: "Pause On call" }).click();
  await item.getByText("Paused", { exact: true }).waitFor();

  await item.getByRole("button", { name: "Edit On call" }).click();
  expect(await dialog.getByLabel("URL").inputValue()).toBe(url);
  await dialog.getByLabel("URL").fill(`${url}night`);
  await dialog.getByLabel("Name").fill("Nights");
  await dialog.getByLabel("Daily canary").uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  await item.getByText(`${url}night`).waitFor();
  expect(await item.getByText("Canary", { exact: true }).count()).toBe(0);
  await item.getByRole("button", { name: "Rotate secret of Nights" }).click();
  await choose(dialog.getByLabel("Overlap"), "1 hour");
  await dialog.getByRole("button", { name: "Create new secret" }).click();
  await dialog.getByText("The secret is shown only once.").waitFor();
  expect(await dialog.locator("pre").textContent()).not.toBe(secret);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await item.getByText("Secret before valid until").waitFor();

  await page.getByRole("link", { name: "Notifications" }).first().click();
  const table = page.getByRole("table");
  await table.getByText("Canary of On call").waitFor();
  await table.getByText("Delivered", { exact: true }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await choose(page.getByLabel("State"), "Given up");
  await page.getByText("No notifications").waitFor();

  await page.getByRole("link", { name: "Destinations" }).first().click();
  // Alerts that name it since the dialog has loaded them are shown before it is removed from them.
  const projectId = await createProject(under.server.url, owner);
  const found = await call<Page<{ id: string }>>(
    under.server.url,
    `/workspaces/${owner.workspaceId}/destinations`,
    asUser(owner),
  );
  const destinations = found.body.data.items.map(({ id }) => id);
  const alertNamed = async (name: string): Promise<void> => {
    const condition = { kind: "threshold", value: 1 };
    const body = { name, query: "level:error", window: "1m", condition, destinations };
    const made = await call(under.server.url, `/projects/${projectId}/alerts`, { ...asUser(owner), body });
    expect(made.status).toBe(201);
  };
  const [loaded] = await Promise.all([
    page.waitForResponse("**/workspaces/*/alerts"),
    page.getByRole("button", { name: "Delete Nights" }).click(),
  ]);
  await loaded.finished();
  await alertNamed("Errors by day");
  const remove = dialog.getByRole("button", { name: "Delete" });
  await remove.click();
  await dialog.getByRole("link", { name: "Errors by day" }).waitFor();
  await dialog.getByRole("alert").waitFor();
  await alertNamed("Errors by night");
  await remove.click();
  await dialog.getByRole("alert").getByText("The alerts that notify it have changed.").waitFor();
  await dialog.getByRole("link", { name: "Errors by night" }).waitFor();
  await remove.click();
  await page.getByText("No destinations").waitFor();
  expect(under.faults()).toEqual([]);
});

it("lists what was delivered beside a long group, and says of notifications whose destination is deleted that it is", async () => {
  const { url } = under.server;
  const { account, projectId, key } = await createTenant(url);
  // SAFETY: it listens on a TCP port.
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const destinations = `/workspaces/${account.workspaceId}/destinations`;
  const body = { kind: "webhook", name: "hook", url: receiverUrl };
  const made = await call<{ id: string }>(url, destinations, { ...asUser(account), body });
  const rule = { name: "Errors", query: "* | count by service", condition: { kind: "threshold", value: 1 } };
  const alert = { ...rule, window: "1m", destinations: [made.body.data.id] };
  expect((await call(url, `/projects/${projectId}/alerts`, { ...asUser(account), body: alert })).status).toBe(201);
  const entry = { message: "one", data: { service: "x".repeat(200) } };
  const sent = await call(url, `/logger/${projectId}/log`, { token: key.secret, body: entry });
  expect(sent.status).toBe(201);
  status = 200;
  const page = await openSettings(under, account, "notifications");
  const table = page.getByRole("table");
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Refresh" }).click();
      return table.getByText("Delivered", { exact: true }).count();
    })
    .toBe(1);
  const hidden = (): Promise<number> =>
    table.evaluate(({ parentElement: box }) => (box === null ? Number.NaN : box.scrollWidth - box.clientWidth));
  expect(await hidden()).toBe(0);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await hidden()).toBe(0);
  const removed = await call(url, `${destinations}/${made.body.data.id}?force=true`, {
    ...asUser(account),
    method: "DELETE",
  });
  expect(removed.status).toBe(200);
  await page.getByRole("button", { name: "Refresh" }).click();
  await table.getByText("No destination, or a deleted one").waitFor();
  expect(await axeFaults(page)).toEqual([]);
});

it("requests another mail for an address that is not confirmed, and keeps secrets that a change leaves out", async () => {
  const { url } = under.server;
  const account = await verifiedAccount(url);
  const page = await openSettings(under, account, "destinations");
  const create = page.getByRole("button", { name: "Create destination" });
  const dialog = page.getByRole("dialog");
  await create.click();
  await choose(dialog.getByLabel("Kind"), "E-mail");
  await dialog.getByLabel("Name").fill("Team");
  await dialog.getByLabel("Address").fill("team@example.com");
  await dialog.getByRole("button", { name: "Create" }).click();
  const item = page.getByRole("list", { name: "Destinations" });
  await item.getByText("Not confirmed").waitFor();
  await nextMail(url, "team@example.com", "confirm-address");
  // The service refuses another mail to the address within a minute.
  await item.getByRole("button", { name: "Send again to team@example.com" }).click();
  await item.getByRole("alert").getByText("Too many requests").waitFor();
  expect(await item.getByRole("button", { name: "Enable Team" }).count()).toBe(0);

  await create.click();
  await choose(dialog.getByLabel("Kind"), "Alertmanager");
  await dialog.getByLabel("Name").fill("Old alerts");
  await dialog.getByLabel("URL").fill("http://127.0.0.1:1/");
  await dialog.getByLabel("Authorization").fill("Bearer x");
  await dialog.getByRole("button", { name: "Create" }).click();
  await item.getByRole("button", { name: "Edit Old alerts" }).click();
  await dialog.getByText("Empty: stays as it is.").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  await item.getByRole("button", { name: "Edit Old alerts" }).click();
  await dialog.getByLabel("Remove authorization").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await item.getByRole("button", { name: "Edit Old alerts" }).click();
  await dialog.getByText("Value of the header. Not shown again.").waitFor();
  expect(under.faults()).toEqual([]);
});
