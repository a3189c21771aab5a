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
