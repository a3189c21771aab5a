import { expect, test } from "vitest";
import { startChromium } from "../../../test/support/chromium.ts";
import { install } from "./application.ts";

test("9: Nuxt renders a page that creates its logger at module level, and logs in the browser and on the server", async () => {
  const app = await install("nuxt");
  await app.bin("nuxt", ["build"]);
  const nuxt = await app.serve(() => [".output/server/index.mjs"]);
  const page = await fetch(nuxt.url);
  expect(page.status, nuxt.output()).toBe(200);
  expect(await page.text()).toContain("Checkout");
  expect(await (await fetch(`${nuxt.url}/api/orders`)).json()).toEqual([{ id: "A-17", state: "shipped" }]);

  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(nuxt.url);
    await page.getByRole("button", { name: "Checkout" }).click();
    // Closing the page would end the context, and with it the requests that outlive the page.
    await app.stored("Page set up", "Page opened", "Checkout");
  } finally {
    await browser.close();
  }
  await nuxt.stop();
  const entries = await app.stored("Orders looked up", "GET /api/orders", "GET /api/orders 200");
  // The server's logger does nothing; the browser's logs once.
  expect(entries.filter(({ message }) => message === "Page set up")).toHaveLength(1);
});
