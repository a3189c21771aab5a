import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { register } from "../support/api.ts";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";

let console: ConsoleUnderTest;

beforeAll(async () => {
  console = await startConsole();
});

afterAll(() => console?.close());

describe("the console's frame", () => {
  it("asks for sign-in where somebody must be signed in, and comes back", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/auth/account");
    await page.waitForURL("**/login?next=%2Fauth%2Faccount");
    await context.close();
  });

  it("remembers who is signed in over a reload, without a call of /auth", async () => {
    const context = await console.open({ as: await register(console.server.url) });
    const page = await context.newPage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto("/");
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(asked.filter((path) => path.startsWith("/auth/"))).toEqual([]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("link", { name: "Sign in" }).first().waitFor();
    await context.close();
  });

  it("has a header of two rows at most on a phone, with the account and the way out in it", async () => {
    const account = await register(console.server.url);
    const context = await console.open({ as: account, viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    await page.goto(`/w/${account.workspaceId}/settings`);
    await page.getByRole("navigation", { name: "Settings" }).waitFor();
    const header = page.getByRole("banner");
    const tops = new Set<number>();
    for (const control of await header.getByRole("link").or(header.getByRole("button")).all()) {
      const box = await control.boundingBox();
      // Those of a row differ in height by a few pixels.
      if (box) tops.add(Math.round((box.y + box.height / 2) / 20));
    }
    expect(tops.size).toBeLessThanOrEqual(2);
    expect(await header.getByRole("link", { name: "Account" }).isVisible()).toBe(true);
    expect(await header.getByRole("button", { name: "Sign out" }).isVisible()).toBe(true);
    expect(await header.getByRole("link", { name: "Taffrail" }).isVisible()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await context.close();
  });

  it("says that there is nothing at an address that nothing can decode", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/w/%ff");
    await page.getByRole("heading", { name: "Nothing here" }).waitFor();
    await page.getByRole("link", { name: "Go to the start" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    await page.waitForFunction(() => document.title === "Taffrail");
    await context.close();
  });

  it.each(["light", "dark"] as const)(
    "has no fault that axe finds on a page that is not there, %s",
    async (colorScheme) => {
      const context = await console.open({ colorScheme });
      const page = await context.newPage();
      await page.goto("/w/a/b/c/d");
      await page.getByRole("heading", { name: "Nothing here" }).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await context.close();
    },
  );

  it("contacts nobody else and breaks no rule of its policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
