import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, call } from "../support/api.ts";
import { nextMail, tokenIn } from "../support/outbox.ts";
import { newEmail, signUp } from "./support/account.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";
import { join, openSettings, settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;
let owner: Account;
let guest: Account;
let workspaceId: string;

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
  [owner, guest] = await Promise.all([verifiedAccount(url), verifiedAccount(url)]);
  workspaceId = await sharedWorkspace(url, owner, "Shared");
  const as = { token: owner.accessToken, workspaceId };
  const project = await call<{ id: string }>(url, "/projects", { ...as, body: { name: "shop" } });
  await call(url, `/projects/${project.body.data.id}/keys`, { ...as, body: { name: "old", scopes: ["logs:read"] } });
});

afterAll(() => under?.close());

/** Sections with buttons: their links, and an element that appears once they have loaded. */
const SECTIONS = {
  general: ["General", "Leave workspace"],
  projects: ["Projects", "Delete shop"],
  keys: ["API keys", "Delete old"],
  members: ["Members", "Leave the workspace"],
  limits: ["Limits", "Add rule"],
  danger: ["Danger zone", "Delete workspace"],
} as const;

/** Names of all enabled buttons, by section. */
async function expectUsable(page: Page, expected: Readonly<Record<string, readonly string[]>>): Promise<void> {
  // The page requests the user's current role.
  await page.goto(settingsPath(workspaceId, "general"));
  const main = page.locator("main");
  for (const [section, [link, button]] of Object.entries(SECTIONS)) {
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: link }).click();
    await main.getByRole("button", { name: button }).waitFor();
    const usable = (): Promise<string[]> =>
      main.getByRole("button").evaluateAll((buttons) =>
        buttons
          // A disabled fieldset disables its controls.
          .filter((each) => !each.matches(":disabled"))
          .map((each) => each.textContent ?? "")
          .sort(),
      );
    // Lists appear shortly after the page.
    const names = expected[section];
    if (names) await expect.poll(usable, { timeout: 10_000, message: section }).toEqual(names);
  }
}

it("invites a guest, who accepts through the mail's link in another browser", async () => {
  const page = await openSettings(under, owner, "members", workspaceId);
  await page.getByLabel("E-mail address").fill("nobody");
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByRole("alert").getByText("must be an e-mail address").waitFor();
  await page.getByLabel("E-mail address").fill("gone@example.com");
  await page.getByRole("button", { name: "Invite" }).click();
  const done = page.getByRole("status").filter({ hasText: "Invited gone@example.com" });
  await done.waitFor();
  await page.getByRole("button", { name: "Withdraw invitation of gone@example.com" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("No pending invitations.").waitFor();
  await done.waitFor({ state: "detached" });
  await page.getByLabel("E-mail address").fill(guest.email);
  await choose(page.getByLabel("Role", { exact: true }), "viewer");
  await page.getByRole("button", { name: "Invite" }).click();
  const pending = page.getByRole("list", { name: "Pending invitations" });
  await pending.getByText(guest.email).first().waitFor();
  expect(await pending.textContent()).toContain("Valid until");
  // The service under test keeps its mails: nothing is sent, and the link is where the invitation is.
  const kept = page.getByRole("status").filter({ hasText: `Invited ${guest.email} as viewer.` });
  await kept.getByText("copy the link and give it to").waitFor();
  expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(0);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const [link = ""] = (await nextMail(url, guest.email, "invite")).links;
  const ofNotice = page.getByRole("button", { name: `Copy link (new invitation of ${guest.email})`, exact: true });
  const ofRow = pending.getByRole("button", { name: `Copy link for ${guest.email}`, exact: true });
  for (const button of [ofNotice, ofRow]) await expect.poll(() => button.isEnabled()).toBe(true);
  // From here on the page's time passes only where the test says so, however long the machine takes.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await ofRow.focus();
  await page.keyboard.press("Enter");
  const copied = page.getByRole("button", { name: `Copied for ${guest.email}` });
  await copied.waitFor();
  // It is as wide as before. Both are measured at once, because fonts may arrive between.
  const widths = await page
    .locator("button")
    .evaluateAll((buttons) =>
      buttons.flatMap((each) => (/^(Copied|Copy link)/.test(each.textContent ?? "") ? [each.clientWidth] : [])),
    );
  expect(widths).toHaveLength(2);
  expect(widths[0]).toBe(widths[1]);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
  const said = page.getByRole("status").filter({ hasText: "On the clipboard" });
  expect(await said.count()).toBe(1);
  // As long as the button has the focus, up to ten seconds.
  await page.clock.fastForward(8000);
  expect(await copied.count()).toBe(1);
  await page.keyboard.press("Tab");
  await copied.waitFor({ state: "detached" });
  expect(await said.count()).toBe(0);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await copied.waitFor();
  await page.keyboard.press("Tab");
  await page.clock.fastForward(2000);
  expect(await copied.count()).toBe(1);
  await page.clock.fastForward(1500);
  await copied.waitFor({ state: "detached" });
  // The pointer holds it after the focus has gone, and the focus after the pointer.
  await ofRow.click();
  await copied.waitFor();
  await page.clock.fastForward(4000);
  await page.keyboard.press("Tab");
  expect(await copied.count()).toBe(1);
  await page.mouse.move(0, 0);
  await copied.waitFor({ state: "detached" });
  await ofRow.click();
  await page.mouse.move(0, 0);
  await page.clock.fastForward(4000);
  expect(await copied.count()).toBe(1);
  await page.clock.fastForward(6000);
  await copied.waitFor({ state: "detached" });
  await page.clock.resume();
  // Where the mail is no longer kept, one button makes a new link, waits for it and copies it, and keeps the focus.
  let items: object[] = [];
  await page.route("**/dev/outbox", (route) => route.fulfill({ json: { success: true, data: { items } } }));
  await page.reload();
  await ofRow.waitFor();
  await page.clock.fastForward(15_000);
  const renewal = pending.getByRole("button", { name: `New link for ${guest.email}` });
  await renewal.focus();
  await page.keyboard.press("Enter");
  await page.getByText("No new link: an address gets at most one a minute and five an hour.").waitFor();
  // A minute later the service gives the invitation another id.
  await page.route(/\/workspaces\/[^/]+\/(members|invitations)/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/inv_\w+/, "inv_renewed") });
  });
  await page.keyboard.press("Enter");
  await page
    .getByText(`Invitation of ${guest.email} renewed. Its new link can be copied here in a few seconds.`)
    .waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused).toBe(`Copy link for ${guest.email}`);
  expect(await ofRow.getAttribute("aria-disabled")).toBe("true");
  items = [{ id: "mail_renewed", kind: "invite", links: ["https://logs.example/renewed"] }];
  // The outbox is asked each second.
  await expect.poll(() => ofRow.getAttribute("aria-disabled"), { timeout: 10_000 }).toBe("false");
  expect(await focused()).toBe(`Copy link for ${guest.email}`);
  await page.keyboard.press("Enter");
  await copied.waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("https://logs.example/renewed");
  await page.unrouteAll();
  // Who reads of a mail beside the link waits for one.
  expect(await page.getByRole("link", { name: /outbox/ }).count()).toBe(0);
  const mails = await (await under.open()).newPage();
  await mails.goto(`${url}/dev/outbox`);
  await mails.getByRole("link", { name: link }).click();
  await mails.waitForURL(({ pathname }) => pathname === new URL(link).pathname);
  await mails.context().close();
  const theirs = await (await under.open({ as: guest })).newPage();
  await theirs.goto(link);
  await theirs.getByRole("button", { name: "Accept" }).click();
  await theirs.waitForURL(`**/w/${workspaceId}`);
  await theirs.getByRole("link", { name: "Settings" }).click();
  await theirs.getByText("Changing name and retention requires an owner or an admin. You are a viewer.").waitFor();
  await theirs.context().close();

  await page.reload();
  await page.getByRole("list", { name: "Members" }).getByText(guest.email).first().waitFor();
  await page.getByText("No pending invitations.").waitFor();
  await page.context().close();
});

it("enables for each role exactly the permitted actions", async () => {
  const page = await openSettings(under, guest, "general", workspaceId);
  const asOwner = await openSettings(under, owner, "members", workspaceId);
  const promote = async (role: string): Promise<void> => {
    await asOwner.getByRole("button", { name: `Change role of ${guest.email}` }).click();
    await choose(asOwner.getByRole("dialog").getByLabel("Role", { exact: true }), role);
    await asOwner.getByRole("button", { name: "Change role", exact: true }).click();
    await asOwner.getByRole("dialog").waitFor({ state: "detached" });
  };
  const always = ["Copy ID", "Create workspace", "Leave workspace"];
  const viewer = {
    general: always,
    projects: [],
    keys: ["Refresh"],
    members: ["Leave the workspace"],
    limits: [],
    danger: [],
  };
  await expectUsable(page, viewer);
  await promote("member");
  const member = { ...viewer, projects: ["Create project", "Delete shop", "Rename shop"] };
  await expectUsable(page, member);
  await promote("admin");
  const admin = {
    ...member,
    keys: ["Create key", "Delete old", "Refresh", "Rotate old", "Settings of old"],
    members: [`Change role of ${guest.email}`, "Leave the workspace"],
    limits: ["Add rule"],
  };
  await expectUsable(page, admin);
  // A member cannot assign a role above the own one.
  await page.goto(settingsPath(workspaceId, "members"));
  const roles = page.getByLabel("Role", { exact: true });
  await roles.waitFor();
  await roles.click();
  await page.getByRole("option").first().waitFor();
  const offered = await page.getByRole("option").locator("> :first-child").allTextContents();
  await page.keyboard.press("Escape");
  expect(offered).toEqual(["admin", "member", "viewer"]);
  const owners = page.getByRole("button", { name: `Change role of ${owner.email}` });
  expect(await owners.getAttribute("title")).toBe("Only an owner can change or remove an owner.");
  await promote("owner");
  await expectUsable(page, { danger: ["Delete workspace"] });
  await page.goto(settingsPath(workspaceId, "members"));
  expect(await page.getByRole("button", { name: `Remove ${owner.email}` }).isEnabled()).toBe(true);
  await promote("viewer");
  await Promise.all([page.context().close(), asOwner.context().close()]);
});

it("14: the home page shows the role that the user has now, not that of the page's load", async () => {
  const page = await (await under.open({ as: guest })).newPage();
  await page.goto("/");
  const main = page.locator("main");
  await main.getByText("viewer", { exact: true }).waitFor();
  const path = `/workspaces/${workspaceId}/members/${guest.userId}`;
  const change = (role: string) =>
    call(url, path, { method: "PATCH", token: owner.accessToken, body: { role } }).then(({ status }) => status);
  expect(await change("member")).toBe(200);
  await page.getByRole("link", { name: "Account" }).click();
  await page.getByRole("heading", { name: "Profile" }).waitFor();
  // The loaded list counts as fresh for 5 s.
  await page.clock.setSystemTime(Date.now() + 6000);
  await page.getByRole("link", { name: "Taffrail", exact: true }).click();
  await main.getByText("member", { exact: true }).waitFor();
  expect(await change("viewer")).toBe(200);
  await page.context().close();
});

it("14: tells a viewer whom to ask for a project and a key, instead of to create them", async () => {
  const id = await sharedWorkspace(url, owner, "Bare");
  const viewer = await verifiedAccount(url);
  await join(url, { workspaceId: id, owner, guest: viewer, role: "viewer" });
  const page = await openSettings(under, viewer, "keys", id);
  await page.getByText("Ask an owner, an admin, or a member to create one first.").waitFor();
  expect(await page.getByRole("link", { name: "Go to projects" }).count()).toBe(0);
  await call(url, "/projects", { token: owner.accessToken, workspaceId: id, body: { name: "shop" } });
  await page.reload();
  await page.getByText("Ask an owner or an admin for a key to send or read entries of shop.").waitFor();
  await page.context().close();
});

it("14: without a confirmed address, says what to do in place of the forms that need one", async () => {
  const page = await (await under.open()).newPage();
  const email = newEmail();
  await signUp(page, email);
  await page.getByRole("heading", { name: "Send the first entry" }).waitFor();
  await page.goto("/");
  await page.getByRole("button", { name: "Create workspace" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name: "Confirm your e-mail address first" }).waitFor();
  expect(await dialog.getByRole("textbox").count()).toBe(0);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: /^Settings of / }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Members" }).click();
  const invitations = page.locator("main");
  await invitations.getByRole("heading", { name: "Confirm your e-mail address first" }).waitFor();
  expect(await invitations.getByRole("button", { name: "Invite" }).count()).toBe(0);
  expect(await axeFaults(page)).toEqual([]);
  await invitations.getByRole("link", { name: "Get a confirmation link" }).click();
  await page.getByRole("button", { name: "Send me a link" }).waitFor();
  // Confirmed elsewhere: the account page notices, and the form is back.
  const token = tokenIn(await nextMail(url, email, "verify-email"));
  expect((await call(url, "/auth/verify-email", { body: { token } })).status).toBe(200);
  await page.reload();
  await page.getByText("Confirmed", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Taffrail", exact: true }).click();
  await page.getByRole("link", { name: /^Settings of / }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Members" }).click();
  await invitations.getByRole("button", { name: "Invite" }).waitFor();
  await page.context().close();
});

it("explains why the last owner cannot leave, and lets a guest leave", async () => {
  const page = await openSettings(under, owner, "members", workspaceId);
  await page.getByRole("button", { name: "Leave the workspace" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Leave" }).click();
  await dialog.getByText("A workspace needs at least one owner. Make another member an owner first.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  const theirs = await openSettings(under, guest, "general", workspaceId);
  await theirs.getByRole("button", { name: "Leave workspace" }).click();
  await theirs.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await theirs.getByRole("heading", { name: "Your workspaces" }).waitFor();
  await expect.poll(() => theirs.getByRole("heading", { name: "Shared" }).count()).toBe(0);
  await theirs.context().close();

  await page.reload();
  await page.getByRole("list", { name: "Members" }).getByText(owner.email).first().waitFor();
  expect(await page.getByText(guest.email).count()).toBe(0);
  await page.context().close();
});

it("contacts no other origin and violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
