import { beforeAll, describe, expect, test } from "vitest";
import { startChromium } from "../../../test/support/chromium.ts";
import { type Application, install } from "./application.ts";

/** The form of an earlier documentation: Node's logger at module level, which Next also bundles for the edge. */
const PLAIN_IMPORT = `
import { taffrailRequestError } from "taffrail/next";
import { logger } from "./lib/logger";

export const onRequestError = taffrailRequestError(logger);
`;

let app: Application;
beforeAll(async () => {
  app = await install("next");
});

describe.each([
  ["imports by NEXT_RUNTIME", undefined],
  ["imports taffrail/node at its top", PLAIN_IMPORT],
])("8: Next with a middleware and an edge route, whose instrumentation %s", (_name, instrumentation) => {
  test("is built and answers", async () => {
    app.forget();
    if (instrumentation !== undefined) app.write("instrumentation.ts", instrumentation);
    await app.bin("next", ["build"]);
    const next = await app.serve((port) => ["node_modules/next/dist/bin/next", "start", "--port", port]);

    const order = await fetch(`${next.url}/api/orders/A-17?fields=state`);
    expect([order.status, await order.json()]).toEqual([200, { id: "A-17", state: "shipped" }]);
    const edge = await fetch(`${next.url}/api/edge`);
    expect([edge.status, await edge.json()]).toEqual([200, { runtime: "edge" }]);
    expect((await fetch(`${next.url}/api/orders/A-17`, { method: "POST" })).status).toBe(500);
    expect((await fetch(`${next.url}/broken`)).status).toBe(500);
    const page = await fetch(next.url);
    expect(page.status, next.output()).toBe(200);
    expect(await page.text()).toContain("Checkout");
    const entries = await app.stored(
      "Middleware",
      "Order looked up",
      "On the edge",
      "Page rendered",
      "GET /api/edge 200",
      "POST /api/orders/A-17 500",
      "GET /broken failed: The warehouse does not answer.",
    );
    await next.stop();
    // The entries of a request have one trace, also on the edge.
    const edgeTraces = entries.filter(({ message }) => /edge/i.test(message)).map(({ traceId }) => traceId);
    expect(new Set(edgeTraces).size).toBe(1);
    expect(edgeTraces[0]).toMatch(/^[0-9a-f]{32}$/);
    const failures = entries.filter(({ category, level }) => category === "system" && level === "error");
    expect(failures.map(({ message }) => message).sort()).toEqual([
      "GET /broken failed: The warehouse does not answer.",
      "POST /api/orders/A-17 failed: The order cannot be changed.",
    ]);
    expect(next.output()).not.toMatch(/is not defined|Cannot read prop/);
  });
});

test("9: a client component that creates the page's logger at module level is rendered, and logs in the browser", async () => {
  const next = await app.serve((port) => ["node_modules/next/dist/bin/next", "start", "--port", port]);
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(next.url);
    await page.getByRole("button", { name: "Checkout" }).click();
    const entries = await app.stored("Cart opened", "Checkout");
    expect(entries.find(({ message }) => message === "Checkout")).toMatchObject({
      category: "http",
      data: { source: "browser" },
    });
  } finally {
    await browser.close();
  }
});
