import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/api.ts";
import { choose } from "./support/choose.ts";
import { type ConsoleUnderTest, startConsole } from "./support/console.ts";
import { libraryHooks } from "./support/library.ts";
import {
  answer,
  card,
  ENTRIES,
  freshAddress,
  left,
  openPlayground,
  panel,
  READS,
  sandboxOf,
} from "./support/playground.ts";

const run = promisify(execFile);

let under: ConsoleUnderTest;

beforeAll(async () => {
  under = await startConsole();
});

afterAll(() => under?.close());

describe("the code panel", () => {
  const copied = async (page: Page) => {
    await card(page, "Code").getByRole("button", { name: "Copy", exact: true }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const nasty = `a 'single' "double" \`tick\` $HOME \\n @ ! é 世`;

  it("has a curl command that does the same as the page", async () => {
    const page = await openPlayground(under);
    await page.getByLabel("Message").fill(nasty);
    await page.getByLabel("Idempotency-Key").fill("it's a key");
    const { stdout } = await run("sh", ["-c", await copied(page)]);
    expect(JSON.parse(stdout).data).toMatchObject({ accepted: 1, rejectedCount: 0 });
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByLabel("Idempotency-Key").fill("");
    await page
      .getByLabel("Entries as JSON")
      .fill(`${JSON.stringify({ message: nasty })}\n${JSON.stringify({ message: "a line more" })}`);
    const lines = await run("sh", ["-c", await copied(page)]);
    expect(JSON.parse(lines.stdout).data).toMatchObject({ accepted: 2, rejectedCount: 0 });
    const { apiKey } = await sandboxOf(under.server.url);
    const body = { filters: { search: nasty } };
    const found = await call<{ logs: object[] }>(under.server.url, "/logger/query", {
      token: apiKey,
      headers: { "X-Forwarded-For": freshAddress() },
      body,
    });
    expect(found.body.data.logs).toHaveLength(2);
  });

  it("has a client library program that runs and sends the same entries", async () => {
    const page = await openPlayground(under);
    await page.getByRole("tab", { name: "Client library" }).click();
    await choose(panel(page).getByLabel("Level"), "debug");
    await choose(panel(page).getByLabel("Category"), "Custom name");
    await page.getByLabel("Category name").fill("billing");
    await page.getByLabel("Message").fill(nasty);
    await panel(page).getByLabel("Data", { exact: true }).fill('{"a-b": [1, {"__proto__": 2}], "long": "x"}');
    expect(await runClient(await copied(page))).toContain("delivered: 1");
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByLabel("Entries as JSON").fill(
      JSON.stringify([
        { message: "first of the program", traceId: "trace-9", extra: 1 },
        { message: "second", level: "trace", category: "http", type: "redirect" },
      ]),
    );
    expect(await runClient(await copied(page))).toContain("delivered: 2");
    const { apiKey } = await sandboxOf(under.server.url);
    const find = async (search: string) => {
      const found = await call<{ logs: object[] }>(under.server.url, "/logger/query", {
        token: apiKey,
        headers: { "X-Forwarded-For": freshAddress() },
        body: { filters: { search } },
      });
      return found.body.data.logs;
    };
    expect(await find(nasty)).toContainEqual(
      expect.objectContaining({ level: "debug", category: "billing", message: nasty, data: expect.anything() }),
    );
    expect(await find("first of the program")).toMatchObject([{ traceId: "trace-9", data: { extra: 1 } }]);
  });
});

describe("limits", () => {
  it("show that no entries are left, and until when", async () => {
    const address = freshAddress();
    const page = await openPlayground(under, {}, address);
    const send = page.getByRole("button", { name: "Send entry" });
    expect(await left(page, ENTRIES)).toBe(100);
    await spend(address, "entries");
    // The page learns the limit from the refused request.
    await send.click();
    await answer(page).getByText("429 Too Many Requests").waitFor();
    await answer(page).getByText("Retry-After").waitFor();
    await page.getByText("No entries left.", { exact: true }).waitFor();
    expect(await page.getByText("The limit is 100 an hour").textContent()).toMatch(/Try again in (59:\d\d|1:00:0\d)/);
    expect(await send.isDisabled()).toBe(true);
    await page.getByText(/^No entries left\. Try again in /).waitFor();
    expect(await left(page, ENTRIES)).toBe(0);
  });

  it("allow sending if no reads are left, and say until when there is no search", async () => {
    const address = freshAddress();
    await spend(address, "reads");
    const page = await openPlayground(under, {}, address);
    await expect.poll(() => left(page, READS)).toBe(0);
    await page.getByText("No reads left.").waitFor();
    await page.getByRole("heading", { name: "Too many requests" }).waitFor();
    await page.getByRole("button", { name: "Send entry" }).click();
    await answer(page).getByText("201 Created").waitFor();
  });
});

describe("the proxy", () => {
  const body = JSON.stringify({ message: "by the proxy" });
  const post = (headers: Record<string, string>, text = body) =>
    call(under.server.url, "/playground/logs", {
      headers: { "X-Forwarded-For": "203.0.113.7", ...headers },
      body: text,
    });

  it("accepts pages of this origin and refuses others", async () => {
    expect((await post({ Origin: under.server.url })).status).toBe(201);
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"]) {
      expect((await post({ Origin: origin })).body.error.code).toBe("FORBIDDEN");
    }
    expect((await post({})).status).toBe(403);
  });

  it("refuses bodies that are too large", async () => {
    const { status, body: refusal } = await post({ Origin: under.server.url }, body.padEnd(70_000));
    expect([status, refusal.error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });
});

describe("the playground", () => {
  it("contacts no other origin and violates no content security policy", () => {
    expect(under.faults()).toEqual([]);
  });
});

/** Uses up a budget of this client IP. */
async function spend(address: string, budget: "entries" | "reads"): Promise<void> {
  const { projectId, apiKey } = await sandboxOf(under.server.url);
  const from = { token: apiKey, headers: { "X-Forwarded-For": address } };
  const body = Array.from({ length: 100 }, (_, i) => ({ message: `spent ${i}` }));
  if (budget === "entries") await call(under.server.url, `/logger/${projectId}/log`, { ...from, body });
  else for (let i = 0; i < 20; i++) await call(under.server.url, "/logger/query", { ...from, body: {} });
}

/** Runs a program with Node like an application that has the library. */
async function runClient(code: string): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), "taffrail-program-"));
  try {
    writeFileSync(path.join(directory, "program.ts"), code);
    const { stdout } = await run(process.execPath, ["--import", libraryHooks(directory), "program.ts"], {
      cwd: directory,
    });
    return stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
