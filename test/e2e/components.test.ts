import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { axeFaults, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";

let under: ConsoleUnderTest;
let page: Page;

beforeAll(async () => {
  under = await startSharedConsole();
  page = await (await under.open({ viewport: { width: 1440, height: 900 } })).newPage();
  await page.goto("/dev/ui");
  await page.getByRole("heading", { name: "Components" }).waitFor();
});

afterAll(() => under?.close());

const samples = (name: string) => page.getByRole("region", { name, exact: true });

it("have no axe violations in both themes and densities, closed and open", async () => {
  expect(await axeFaults(page)).toEqual([]);
  for (const name of ["light, compact", "dark, comfortable"]) {
    await samples(name).getByRole("combobox", { name: "Select", exact: true }).click();
    await page.getByRole("listbox").waitFor();
    expect(await axeFaults(page, "[role=listbox]")).toEqual([]);
    await page.keyboard.press("Escape");
    await samples(name).getByRole("button", { name: "Menu" }).click();
    await page.getByRole("menu").waitFor();
    expect(await axeFaults(page, "[role=menu]")).toEqual([]);
    await page.keyboard.press("Escape");
    await samples(name).getByRole("button", { name: "Popover" }).click();
    await page.getByRole("dialog", { name: "Popover" }).waitFor();
    expect(await axeFaults(page, "[role=dialog]")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Popover" }).waitFor({ state: "hidden" });
  }
});

it("open, choose and close by keyboard, and return the focus", async () => {
  const select = samples("light, compact").getByRole("combobox", { name: "Select", exact: true });
  await select.focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("listbox").waitFor();
  await page.keyboard.type("last 24");
  await page.keyboard.press("Enter");
  await expect.poll(() => select.textContent()).toBe("Last 24 hours");
  await page.getByRole("listbox").waitFor({ state: "hidden" });
  await expect.poll(() => select.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await page.getByRole("listbox").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => select.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await select.textContent()).toBe("Last 24 hours");
});

it("show a tooltip for the keyboard", async () => {
  const tour = samples("light, compact").getByRole("button", { name: "Refresh" }).first();
  await tour.focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await page.getByText("Refreshr", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Refreshr", { exact: true }).waitFor({ state: "hidden" });
  // A text that is set after that, such as one that is loaded, does not show it again.
  await tour.evaluate(async (element) => {
    element.dataset.tooltip = "Refresh";
    for (let frame = 0; frame < 3; frame++) await new Promise((next) => requestAnimationFrame(next));
  });
  expect(await page.getByRole("tooltip").count()).toBe(0);
});

it("end a toast on the page that the reader goes to", async () => {
  const toast = page.getByText("Saved.", { exact: true });
  // The time that a toast stays does not end.
  await page.evaluate(() => {
    const start = window.setTimeout.bind(window);
    const short = (act: () => void, ms = 0): number => (ms < 5000 ? start(act, ms) : 0);
    Object.assign(window, { setTimeout: short });
  });
  await samples("light, compact").getByRole("button", { name: "Toast" }).click();
  await toast.waitFor();
  await page.getByRole("link", { name: "Sign in" }).first().click();
  await page.waitForURL("**/login*");
  await toast.waitFor({ state: "detached" });
  await page.goBack();
  await page.getByRole("heading", { name: "Components" }).waitFor();
});

it("keep the density that the user chose", async () => {
  await page.getByRole("button", { name: "Appearance" }).click();
  await page.getByRole("menuitemradio", { name: "Comfortable" }).click();
  await page.waitForFunction(() => document.documentElement.dataset.density === "comfortable");
  await page.reload();
  await page.getByRole("heading", { name: "Components" }).waitFor();
  expect(await page.evaluate(() => document.documentElement.dataset.density)).toBe("comfortable");
});

it("fit into all widths", async () => {
  expect(await tooWide(page)).toEqual([]);
});

it("violate no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
