import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { Key } from "selenium-webdriver";
import { call } from "../support/api.ts";
import type { BrowserPage } from "./page.ts";

/** What flows share, and what they leave for those after them. */
export interface Trip {
  url: string;
  page: BrowserPage;
  /** Address of the owner, who is signed in at the start and at the end of each flow after "sign-up". */
  email: string;
  /** Stores a picture of the page as it is. */
  picture(name: string): Promise<void>;
  /** Where the browser stores files. */
  downloads: string;
  receiver: Receiver;
  /** Ends all connections to the service until it is called again. */
  setAway(isAway: boolean): void;
  workspaceId: string;
  projectId: string;
  secret: string;
}

export interface Flow {
  name: string;
  run(trip: Trip): Promise<void>;
}

export const PASSWORD = "a pass phrase of some length";
export const ROWS = "[data-row]";

/** A receiver of notifications. */
export interface Receiver {
  url: string;
  /** Bodies so far. */
  bodies: string[];
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push((await request.setEncoding("utf8").toArray()).join(""));
    response.end("seen by the receiver");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${address.port}/`, bodies, close };
}

export const logs = ({ workspaceId, projectId }: Trip, more = "") =>
  `/w/${workspaceId}/p/${projectId}?range=all${more}`;

export async function send({ url, projectId, secret }: Trip, body: object): Promise<void> {
  const { status } = await call(url, `/logger/${projectId}/log`, { token: secret, body });
  assert.equal(status, 201);
}

/** Replaces the query and runs it. */
export async function ask(page: BrowserPage, query: string): Promise<void> {
  await page.fill(await page.role("textbox", "Search"), query);
  await page.press(Key.ESCAPE, Key.ENTER);
}

/** Opens the first entry that a query finds. */
export async function openFirst(trip: Trip, query: string): Promise<void> {
  const { page } = trip;
  await page.goto(logs(trip, `&q=${encodeURIComponent(query)}`));
  await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
  await page.press("j");
  await page.press(Key.ENTER);
  await page.role("region", /^Details of entry/);
}

/** Waits for a status with these words. */
export const said = ({ page }: Trip, words: RegExp) =>
  page.until(`the status ${words}`, async () => (await page.texts("[role=status]")).some((text) => words.test(text)));

/** Inspects a state of a page that is not the flow's last one, which is inspected anyway. */
export async function accessible({ page }: Trip): Promise<void> {
  assert.deepEqual(await page.violations(), []);
}

export const shown = ({ page }: Trip, selector: string, words: string | RegExp) =>
  page.until(`${words} in ${selector}`, async () =>
    (await page.texts(selector)).some((text) => (typeof words === "string" ? text.includes(words) : words.test(text))),
  );

/** Waits for a file that the browser has stored completely. */
export async function downloaded({ page, downloads }: Trip, name: RegExp): Promise<string> {
  let text = "";
  await page.until(`a file ${name}`, async () => {
    const file = existsSync(downloads) ? readdirSync(downloads).find((each) => name.test(each)) : undefined;
    if (file !== undefined) text = readFileSync(path.join(downloads, file), "utf8");
    return text !== "";
  });
  return text;
}

export async function signOut({ page }: Trip): Promise<void> {
  await page.goto("/auth/account");
  await page.click("button", "Sign out");
  await page.role("link", "Sign in");
}

export async function signIn({ page }: Trip, email: string): Promise<void> {
  await page.goto("/login");
  await page.fill(await page.label("E-mail address"), email);
  await page.fill(await page.label("Password"), PASSWORD);
  await page.click("button", "Sign in");
  await page.role("button", "Sign out");
  // The page leads on by itself, and would overtake an address that is opened now.
  await page.address("the page behind the sign-in", ({ pathname }) => pathname !== "/login");
}
