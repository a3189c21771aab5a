import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { register } from "../support/api.ts";
import { signedIn, signIn } from "./support/account.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";

let console: ConsoleUnderTest;

beforeAll(async () => {
  console = await startSharedConsole();
});

afterAll(() => console?.close());

describe("the console's shell", () => {
  it("redirects to sign-in and returns", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/auth/account");
    await page.waitForURL("**/login?next=%2Fauth%2Faccount");
    await context.close();
  });

  it("stays signed in on a reload, without a call of /auth", async () => {
    const context = await console.open({ as: await register(console.server.url) });
    const page = await context.newPage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const auth = () => asked.filter((path) => path.startsWith("/auth/"));
    // A session that does not know yet whether its address is confirmed asks once.
    const answered = page.waitForResponse("**/auth/me");
    await page.goto("/");
    await answered;
    await page.getByRole("region", { name: "E-mail address" }).waitFor();
    expect(auth()).toEqual(["/auth/me"]);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.getByRole("region", { name: "E-mail address" }).waitFor();
    expect(auth()).toEqual(["/auth/me"]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("link", { name: "Sign in" }).first().waitFor();
    await context.close();
  });

  it("has a header of at most two rows on a phone, with account and sign-out", async () => {
    const account = await register(console.server.url);
    const context = await console.open({ as: account, viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    await page.goto(`/w/${account.workspaceId}/settings`);
    await page.getByRole("navigation", { name: "Settings" }).waitFor();
    const header = page.getByRole("banner");
    const tops = new Set<number>();
    expect(await header.getByRole("link", { name: "Taffrail" }).isVisible()).toBe(true);
    for (const control of await header.getByRole("link").or(header.getByRole("button")).all()) {
      const box = await control.boundingBox();
      if (box === null) throw new Error("A control of the header is not drawn.");
      // Elements of a row differ in position by a few pixels.
      tops.add(Math.round((box.y + box.height / 2) / 20));
      expect(box.x + box.width).toBeLessThanOrEqual(360);
    }
    expect(tops.size).toBeLessThanOrEqual(2);
    expect(await axeFaults(page)).toEqual([]);
    await header.getByRole("button", { name: "Menu" }).click();
    for (const name of ["Commands Ctrl K", "Account", "Sign out"]) await page.getByRole("menuitem", { name }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "hidden" });
    // The palette has what the bar has no room for.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a command" }).fill("keyboard shortcuts");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByRole("heading", { name: "Logs" }).waitFor();
    // The pages of one query lead to each other with it.
    await page.goto(`/w/${account.workspaceId}?q=level%3Aerror&range=1h`);
    await page.getByRole("button", { name: "More", exact: true }).click();
    for (const name of ["Patterns g p", "Compare g c", "Refresh r", "Help ?"])
      await page.getByRole("menuitem", { name, exact: true }).waitFor();
    await page.keyboard.press("Escape");
    for (const name of ["Patterns", "Compare", "Logs"]) {
      await header.getByRole("link", { name }).click();
      const tool = name === "Logs" ? "" : `/${name.toLowerCase()}`;
      await page.waitForURL(`**/w/${account.workspaceId}${tool}?q=level%3Aerror&range=1h`);
      await header.getByRole("link", { name }).and(page.locator("[aria-current=page]")).waitFor();
    }
    await context.close();
  });

  it("opens and signs in where the browser refuses its storage", async () => {
    const context = await console.open();
    await context.addInitScript(() => {
      const get = (): never => {
        throw new DOMException("Access is denied for this document.", "SecurityError");
      };
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(window, name, { get, configurable: true });
      }
    });
    const { email, password } = await register(console.server.url);
    const page = await context.newPage();
    await page.goto("/login");
    await signIn(page, email, password);
    await signedIn(page);
    await context.close();
  });

  it("says by how much the clock of the device is wrong, until it is right", async () => {
    const account = await register(console.server.url);
    const context = await console.open({ as: account });
    const page = await context.newPage();
    const said = (words: string) =>
      page.getByRole("status").filter({ hasText: `The clock of this device is ${words}` });
    await page.clock.setFixedTime(Date.now() + 26 * 3_600_000);
    await page.goto("/");
    await said("1 day ahead of the service.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.clock.setFixedTime(Date.now() - 3 * 3_600_000);
    await page.reload();
    await said("3 hours behind the service.").waitFor();
    await page.clock.setFixedTime(Date.now());
    await page.reload();
    await page.getByRole("link", { name: "Send the first entry" }).waitFor();
    expect(await said("").count()).toBe(0);
    await context.close();
  });

  it("keeps the workspace on pages that belong to none, and opens its pages by keys", async () => {
    const account = await register(console.server.url);
    const context = await console.open({ as: account });
    const page = await context.newPage();
    await page.goto("/docs/query-language.md#filters");
    await page.getByRole("heading", { name: "The query language", level: 1 }).waitFor();
    const rail = page.getByRole("navigation", { name: "Workspace" });
    await rail.getByRole("link", { name: "Overview" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Limits", exact: true }).click();
    await page.getByRole("heading", { name: "Limits", level: 1 }).waitFor();
    // In one turn, because the second key counts for a short time.
    await page.evaluate(() => {
      for (const key of ["g", "s"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    });
    await page.waitForURL(`**/w/${account.workspaceId}/settings`);
    // The page takes the focus when it is loaded, which closes an open menu.
    await page.locator("#main:focus").and(page.locator(":has(nav[aria-label=Settings])")).waitFor();
    await page.getByRole("button", { name: "Help and documents" }).click();
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).click();
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByRole("heading", { name: "Logs" }).waitFor();
    expect(await axeFaults(page, "dialog")).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    // A workspace of which the user is no member has no pages to offer.
    await page.goto("/w/ws_unknown00000/overview");
    await page.getByRole("heading", { name: "Workspace not found" }).waitFor();
    expect(await rail.getByRole("link", { name: "Overview" }).getAttribute("href")).toBe(
      `/w/${account.workspaceId}/overview`,
    );
    // The page before stays until the next one is there, with a sign that it is on its way.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/files\/boards-.+\.js$/, async (route) => {
      await released;
      await route.continue();
    });
    await rail.getByRole("link", { name: "Boards" }).click();
    const loading = page.locator("#main[data-loading]");
    await loading.waitFor();
    await expect.poll(() => loading.evaluate((main) => getComputedStyle(main, "::before").opacity)).toBe("1");
    release();
    await page.getByRole("heading", { name: "Boards", level: 1 }).waitFor();
    await loading.waitFor({ state: "detached" });
    await context.close();
  });

  it("shows Page not found at an address that cannot be decoded", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/w/%ff");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await page.getByRole("link", { name: "Go to home page" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    await page.waitForFunction(() => document.title === "Taffrail");
    await page.goto("/docs/limits.md#100%");
    await page.getByRole("heading", { name: "Limits", level: 1 }).waitFor();
    // A page that follows is shown. An error would be one of the faults below.
    await page.getByRole("link", { name: "Accounts", exact: true }).click();
    await page.getByRole("heading", { name: "Accounts", level: 1 }).waitFor();
    await context.close();
  });

  it.each(["light", "dark"] as const)("has no axe violations on a missing page, %s", async (colorScheme) => {
    const context = await console.open({ colorScheme });
    const page = await context.newPage();
    await page.goto("/w/a/b/c/d");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await context.close();
  });

  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
