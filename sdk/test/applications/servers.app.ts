import { expect, test } from "vitest";
import { startChromium } from "../../../test/support/chromium.ts";
import { type Application, install } from "./application.ts";

/** Opens a page, and waits until its entries are stored. */
async function opened(app: Application, url: string, ...messages: string[]): Promise<void> {
  const browser = await startChromium();
  const reported: string[] = [];
  try {
    const page = await browser.newPage();
    page.on("console", (message) => reported.push(message.text()));
    page.on("requestfailed", (request) => reported.push(`${request.url()}: ${request.failure()?.errorText}`));
    page.on("response", (response) => reported.push(`${response.status()} ${response.url()}`));
    await page.goto(url);
    await app.stored(...messages);
  } catch (error) {
    throw new Error(reported.join("\n"), { cause: error });
  } finally {
    await browser.close();
  }
}

test("10: Express in TypeScript compiles with req.log, strictly, and logs its requests", async () => {
  const app = await install("express");
  await app.bin("typescript", ["-p", "."]);
  const server = await app.serve(() => ["server.ts"]);
  expect((await fetch(`${server.url}/orders/A-17`)).status).toBe(200);
  expect((await fetch(`${server.url}/orders`, { method: "POST" })).status).toBe(500);
  await server.stop();
  const entries = await app.stored("Order looked up", "GET /orders/A-17 200", "POST /orders 500");
  const traces = entries.filter(({ message }) => /looked up|A-17/.test(message)).map(({ traceId }) => traceId);
  expect(new Set(traces).size).toBe(1);
});

test("13: Fastify with the logger as loggerInstance compiles, and logs messages as messages", async () => {
  const app = await install("fastify");
  await app.bin("typescript", ["-p", "."]);
  const server = await app.serve(() => ["server.ts"]);
  expect((await fetch(`${server.url}/orders/A-17`)).status).toBe(200);
  expect((await fetch(`${server.url}/orders`, { method: "POST" })).status).toBe(500);
  await server.stop();
  const entries = await app.stored("Order looked up", "incoming request", "request completed");
  expect(entries.find(({ message }) => message === "Order looked up")).toMatchObject({ data: { id: "A-17" } });
  for (const { message } of entries) expect(message.length).toBeLessThan(200);
});

test("14: Vite's dev proxy forwards entries of a page", async () => {
  const app = await install("vite");
  await app.bin("typescript", ["-p", "."]);
  await app.bin("vite", ["build"]);
  const backend = await app.serve(() => ["server.ts"]);
  const vite = await app.serve(
    (port) => ["node_modules/vite/bin/vite.js", "--port", port, "--strictPort"],
    () => ({ BACKEND_PORT: backend.port }),
  );
  await opened(app, vite.url, "Page opened");
});

test("9: a page that a server renders logs in the browser, but not on the server", async () => {
  const app = await install("browser");
  await app.bin("typescript", ["-p", "."]);
  await app.bin("esbuild", ["page.ts", "--bundle", "--format=esm", "--outfile=page.js"]);
  const server = await app.serve(() => ["server.ts"]);
  expect(await (await fetch(server.url)).text()).toContain("3 items in the cart");
  await opened(app, server.url, "Cart rendered");
  await server.stop();
  expect((await app.stored()).filter(({ message }) => message === "Cart rendered")).toHaveLength(1);
});
