import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Panel } from "../../src/workspace/panels.ts";
import { type Account, asUser, call, createKey, createProject, type Tenant } from "../support/api.ts";
import { send, variedEntries } from "./explorer-query-support.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { join, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;
let owner: Account;
let viewer: Account;
let workspaceId: string;
let tenant: Tenant;

interface FoundBoard {
  id: string;
  name: string;
  version: number;
  panels: Panel[];
}

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
  [owner, viewer] = await Promise.all([verifiedAccount(url), verifiedAccount(url)]);
  workspaceId = await sharedWorkspace(url, owner, "Harbour");
  await join(url, { workspaceId, owner, guest: viewer, role: "viewer" });
  const account = { ...owner, workspaceId };
  const projectId = await createProject(url, account, "shop");
  tenant = { account, projectId, key: await createKey(url, account, projectId) };
  const entries = variedEntries(Date.now());
  await send(
    url,
    tenant,
    entries.map(({ data, ...entry }, n) => ({ ...entry, data: { ...data, path: `/p${n % 3}`, durationMs: n } })),
  );
});

afterAll(() => under?.close());

async function opened(as: Account, path: string, colorScheme: "light" | "dark" = "light"): Promise<Page> {
  const context = await under.open({ as, colorScheme, viewport: { width: 1280, height: 1600 } });
  const page = await context.newPage();
  await page.goto(`/w/${workspaceId}${path}`);
  return page;
}

/** Runs in the page: notes the outlines of all bars that are drawn, also those of frames that are gone. */
function noteOutlines(): void {
  const outlines: string[] = [];
  Reflect.set(globalThis, "outlines", outlines);
  new MutationObserver(() => {
    for (const path of document.querySelectorAll("svg[role=img] path")) outlines.push(path.getAttribute("d") ?? "");
  }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["d"] });
}

async function boardNamed(name: string): Promise<FoundBoard> {
  const list = await call<{ items: FoundBoard[] }>(url, `/workspaces/${workspaceId}/boards`, asUser(tenant.account));
  const id = list.body.data.items.find((board) => board.name === name)?.id;
  return (await call<FoundBoard>(url, `/workspaces/${workspaceId}/boards/${id}`, asUser(tenant.account))).body.data;
}

/**
 * Records what a page searches for: the queries of a batch, or the one of a search.
 * @param ofChanges gets the requests for what releases changed, which are made once for each release, whenever it is marked first
 */
function searches(page: Page, ofChanges: string[][] = []): (string | string[])[] {
  const asked: (string | string[])[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith("/logger/")) return;
    const { query, queries } = request.postDataJSON();
    const texts: string | string[] = pathname.endsWith("/batch")
      ? queries.map((each: { query: string }) => each.query)
      : query;
    if (Array.isArray(texts) && texts[0]?.endsWith("| sort time | limit 20")) ofChanges.push(texts);
    else asked.push(texts);
  });
  return asked;
}

/** Waits for the font of the console: it arrives after the content, and moves texts by less than a pixel. */
async function withFonts(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...document.fonts].some(({ family, status }) => family.includes("Inter Variable") && status === "loaded"),
  );
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
}

const panel = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

describe("19.4: boards", () => {
  it("19.4: the board of a new project shows its data with one request, looks for versions with another, and has nothing to change for a viewer", async () => {
    for (const theme of ["light", "dark"] as const) {
      const page = await opened(viewer, "/boards", theme);
      const asked = searches(page);
      let load = (): void => undefined;
      const isLoading = new Promise<void>((resolve) => {
        load = resolve;
      });
      await page.route(/\/boards\/board_\w+$/, async (route) => {
        if (route.request().resourceType() === "fetch") await isLoading;
        await route.continue();
      });
      await page.evaluate(noteOutlines);
      await page.getByRole("link", { name: "shop" }).click();
      // Its name is known from the list, and its panels have their usual places.
      await page.getByRole("heading", { level: 1, name: "shop" }).waitFor();
      await page.getByRole("status").filter({ hasText: "Loading …" }).waitFor();
      expect(await page.title()).toBe("shop · Taffrail");
      expect(await page.locator("main [aria-hidden=true] > [style*=grid-]").count()).toBe(4);
      load();
      await panel(page, "Entries by level")
        .getByRole("img", { name: /^count\(\) from .* at most \d/ })
        .waitFor();
      // From the first frame on, no bar begins above the drawing, whose height is measured after it.
      const outlines = await page.evaluate((): string[] => Reflect.get(globalThis, "outlines"));
      expect(outlines.length).toBeGreaterThan(0);
      expect(outlines.filter((outline) => /V-/.test(outline))).toEqual([]);
      await panel(page, "Top errors")
        .getByRole("cell", { name: /^entry/ })
        .first()
        .waitFor();
      await panel(page, "Slowest requests").getByRole("cell", { name: "/p1" }).waitFor();
      await panel(page, "Top patterns")
        .getByRole("cell", { name: /^entry/ })
        .first()
        .waitFor();
      // After the board, a field with versions is looked for once.
      await expect.poll(() => asked.length).toBe(2);
      expect(asked).toEqual([expect.any(Array), [expect.stringMatching(/^\(service\.version:\* OR /)]]);
      expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
      expect(await axeFaults(page)).toEqual([]);
      await withFonts(page);
      // The drawing stays where it is under the pointer, and a drag over it is the time of the board.
      await panel(page, "Entries by level")
        .getByText(/^per \d+ minutes$/)
        .waitFor();
      const drawn = panel(page, "Entries by level").getByRole("img");
      const place = await drawn.boundingBox();
      if (place === null) throw new Error("Nothing is drawn.");
      await page.mouse.move(place.x + place.width * 0.9, place.y + 20);
      await page.locator("[popover]").getByText("error", { exact: true }).waitFor();
      expect(await drawn.boundingBox()).toEqual(place);
      await page.mouse.down();
      await page.mouse.move(place.x + place.width * 0.95, place.y + 20, { steps: 3 });
      await page.mouse.up();
      await page.waitForURL((url) => url.searchParams.has("from") && url.searchParams.has("to"));
      await page.goBack();
      await page.waitForURL((url) => !url.searchParams.has("to"));
      // The same values as a table.
      await panel(page, "Entries by level").getByRole("button", { name: "Table of Entries by level" }).click();
      await panel(page, "Entries by level").getByRole("columnheader", { name: "level" }).waitFor();
      // A drawing as an image of its own size.
      await panel(page, "Errors by service").getByRole("button", { name: "Image of Errors by service" }).click();
      const [image] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "Download image" }).click(),
      ]);
      expect(image.suggestedFilename()).toBe("Errors-by-service.png");
      await page.getByText("Image downloaded", { exact: true }).waitFor();
      const png = await readFile(await image.path());
      expect(png.subarray(1, 4).toString()).toBe("PNG");
      expect(png.readUInt32BE(16)).toBe(2400);
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      const copy = async (): Promise<void> => {
        await page.getByRole("button", { name: "Image of Errors by service" }).click();
        await page.getByRole("menuitem", { name: "Copy as image" }).click();
      };
      await copy();
      await page.getByText("Image copied", { exact: true }).waitFor();
      const types = await page.evaluate(async () => (await navigator.clipboard.read()).map((item) => item.types));
      expect(types).toEqual([["image/png"]]);
      await page.evaluate(() => {
        HTMLCanvasElement.prototype.toBlob = (done) => done(null);
      });
      await copy();
      await page.getByText("The image could not be drawn.", { exact: true }).waitFor();
      await page.context().close();
    }
  });

  it("19: a board asks for what its search for fields found alone, with the releases, and from then on for all at once", async () => {
    const account = { ...owner, workspaceId };
    const projectId = await createProject(url, account, "lanes");
    const key = await createKey(url, account, projectId);
    const logs = Array.from({ length: 40 }, (_, n) => ({
      ...{ level: "info", message: "handled", timestamp: Date.now() - (n + 1) * 60_000 },
      data: { service: "ferry", version: n < 20 ? "2.0.0" : "1.0.0", duration: n, path: `/p${n % 2}` },
    }));
    await send(url, { account, projectId, key }, logs);
    const page = await opened(owner, "/boards");
    const asked = searches(page);
    const answered = async (): Promise<void> => {
      await panel(page, "Slowest requests").getByRole("cell", { name: "/p1" }).waitFor();
      await page.getByRole("img", { name: /; releases: .*ferry 2\.0\.0/ }).waitFor();
    };
    const open = () => page.getByRole("main").getByRole("link", { name: "lanes" }).click();
    await open();
    await answered();
    const slowest = expect.stringContaining("p95(duration)");
    const releases = expect.stringContaining("stats min(time) as first");
    expect(asked.splice(0)).toEqual([expect.any(Array), "* | facets 1", "duration:* | facets 1", [slowest, releases]]);
    await page.goBack();
    await open();
    await answered();
    expect(asked.splice(0)).toEqual([expect.arrayContaining([slowest, releases])]);
    await page.getByRole("button", { name: "Refresh now" }).click();
    await expect.poll(() => asked.length).toBe(1);
    await answered();
    expect(asked).toEqual([expect.arrayContaining([slowest, releases])]);
    await page.context().close();
  });

  it("19: a board marks releases, asked for with its panels, until they are hidden", async () => {
    const account = { ...owner, workspaceId };
    const projectId = await createProject(url, account, "fleet");
    const key = await createKey(url, account, projectId);
    const now = Date.now();
    const logs = Array.from({ length: 40 }, (_, n) => ({
      ...{ level: "info", message: "handled", timestamp: now - (n + 1) * 60_000 },
      data: { service: "ferry", version: n < 20 ? "2.0.0" : "1.0.0", pool: n < 20 ? 5 : 20 },
    }));
    await send(url, { account, projectId, key }, logs);
    const { id, name, version, panels } = await boardNamed("fleet");
    const page = await opened(owner, "/boards");
    const ofChanges: string[][] = [];
    const asked = searches(page, ofChanges);
    // Releases that arrive late move nothing: neither the bar of the board nor its drawings.
    const late = Promise.withResolvers<void>();
    await page.route("**/logger/search/batch", async (route) => {
      if (route.request().postData()?.includes("stats min(time) as first")) await late.promise;
      await route.continue();
    });
    await page.goto(`/w/${workspaceId}/boards/${id}?range=40m`);
    const drawn = panel(page, "Entries by level").getByRole("img");
    const marked = /^count.*; releases: ferry 2\.0\.0, [^;]*$/;
    await drawn.waitFor();
    await withFonts(page);
    const places = () =>
      Promise.all([drawn, page.getByRole("button", { name: "Print" })].map((each) => each.boundingBox()));
    const before = await places();
    late.resolve();
    await page.getByRole("img", { name: marked }).waitFor();
    expect(await places()).toEqual(before);
    const one = [expect.stringContaining("stats min(time) as first")];
    // The fields that were looked for the slowest paths have the one with versions.
    expect(asked.splice(0)).toEqual([expect.any(Array), "* | facets 1", one]);
    // They are listed once, and what they changed is asked for once for all drawings.
    const listed = page.getByRole("list", { name: "Releases of the board" });
    await listed.getByText(/ferry 2\.0\.0 .*pool\u00a020\u00a0\u2192\u00a05$/).waitFor();
    expect(await page.getByText(/ferry 2\.0\.0 \d/).count()).toBe(1);
    expect(ofChanges).toEqual([expect.any(Array)]);
    expect(await axeFaults(page)).toEqual([]);
    const refresh = page.getByRole("button", { name: "Refresh now" });
    const [response] = await Promise.all([page.waitForResponse("**/logger/search/batch"), refresh.click()]);
    const { answers } = (await response.json()).data;
    expect(asked.splice(0)).toEqual([expect.arrayContaining(one)]);
    await page.getByRole("button", { name: "Releases", pressed: true }).click();
    await page.waitForURL("**/boards/*?range=40m&releases=0");
    await expect.poll(() => drawn.getAttribute("aria-label")).not.toMatch(/releases/);
    await refresh.click();
    await expect.poll(() => asked.map((each) => each.length)).toEqual([answers.length - 1]);
    // The palette has what the page can do.
    await page.getByRole("button", { name: "Releases", pressed: false }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Show releases" }).click();
    await page.getByRole("img", { name: marked }).waitFor();
    // With as many panels as a request has queries, a refresh is one request still.
    const counts = Array.from({ length: 19 }, (_, n) => ({
      ...{ id: `p${n}`, title: `Count ${n}`, query: "* | count", kind: "number" },
      ...{ x: (n % 6) * 2, y: 7 + Math.floor(n / 6) * 4, w: 2, h: 4 },
    }));
    const body = { name, version, panels: [...panels.slice(0, 1), ...counts] };
    const path = `/workspaces/${workspaceId}/boards/${id}`;
    expect((await call(url, path, { ...asUser(tenant.account), method: "PATCH", body })).status).toBe(200);
    await page.goto(`/w/${workspaceId}/boards/${id}?range=40m`);
    await page.getByRole("img", { name: marked }).waitFor();
    asked.splice(0);
    const [again] = await Promise.all([page.waitForResponse("**/logger/search/batch"), refresh.click()]);
    expect(again.status()).toBe(200);
    await expect.poll(() => refresh.getAttribute("aria-busy")).toBe("false");
    expect(asked.map((each) => each.length)).toEqual([20]);
    expect(await page.getByRole("img", { name: marked }).isVisible()).toBe(true);
    // After five minutes the releases are asked for again.
    await page.evaluate(() => {
      const { now } = Date;
      Date.now = () => now() + 5 * 60_000;
    });
    await refresh.click();
    await expect.poll(() => asked.map((each) => each.length)).toEqual([20, 20, 1]);
    await page.getByRole("img", { name: marked }).waitFor();
    // A mark opens links, which would lose the changes of a board.
    const marks = page.getByRole("toolbar", { name: "Releases" });
    await marks.first().waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await marks.first().waitFor({ state: "detached" });
    await drawn.waitFor();
    await page.context().close();
  });

  it("19.4: the board of a new project finds the fields of its slowest paths", async () => {
    const account = { ...owner, workspaceId };
    const projectId = await createProject(url, account, "gateway");
    const key = await createKey(url, account, projectId);
    const data = (n: number) => ({ "http.route": `/r${n % 2}`, "http.server.request.duration": n / 10 });
    await send(
      url,
      { account, projectId, key },
      [1, 2, 3, 4].map((n) => ({ level: "info", message: "handled", data: data(n) })),
    );
    const page = await opened(viewer, "/boards");
    // The first query has no rows, and is not the last one.
    await page.evaluate(() => {
      new MutationObserver(() => {
        const panel = document.querySelector('[aria-label="Slowest requests"]');
        if (panel?.textContent.includes("No entries")) document.body.dataset.claimed = "nothing";
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await page.getByRole("link", { name: "gateway" }).click();
    const slowest = panel(page, "Slowest requests");
    await slowest.getByText("p95 of http.server.request.duration by http.route").waitFor();
    const cells = await slowest.getByRole("cell").allTextContents();
    expect(cells.slice(0, 3)).toEqual(["/r0", "2", "0.4"]);
    await slowest.getByRole("columnheader", { name: "p95 s" }).waitFor();
    expect(await page.evaluate(() => document.body.dataset.claimed)).toBeUndefined();
    await page.context().close();
  });

  it("19.4: panels are arranged by dragging and by keyboard, and saved; one that is wrong shows its own error", async () => {
    const page = await opened(owner, "/boards");
    await page.getByRole("link", { name: "shop" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const grip = page.getByRole("button", { name: "Move Slowest requests", exact: true });
    await grip.focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("status").getByText("Slowest requests: column 6").waitFor();
    await page.keyboard.press("Shift+ArrowDown");
    await page.getByRole("status").getByText("12 high").waitFor();
    await expect.poll(() => grip.evaluate((element) => element === document.activeElement)).toBe(true);
    const patterns = page.getByRole("button", { name: "Move Top patterns", exact: true });
    const from = await patterns.boundingBox();
    const first = await panel(page, "Entries by level").boundingBox();
    if (from === null || first === null) throw new Error("Nothing to drag.");
    await page.mouse.move(from.x + 5, from.y + 5);
    await page.mouse.down();
    await page.mouse.move(from.x + 5, first.y, { steps: 8 });
    await page.mouse.up();
    await page.getByRole("status").getByText("Top patterns: column 1, row 1").waitFor();
    await page.getByRole("button", { name: "Add panel" }).click();
    const dialog = page.getByRole("dialog", { name: "Add panel" });
    await dialog.getByLabel("Title").fill("Entries");
    await dialog.getByLabel("Query").fill("level:>= | count");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByRole("alert").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByLabel("Query").fill("* | stats sum(message)");
    await dialog.getByLabel("Number").check();
    await dialog.getByRole("button", { name: "Add" }).click();
    await panel(page, "Entries").getByRole("alert").getByText("needs numbers").waitFor();
    await panel(page, "Entries by level").getByRole("img").waitFor();
    await page.getByRole("button", { name: "Edit Entries", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Query").fill("* OR && | count");
    await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
    await panel(page, "Entries").getByText("56", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await beyondTab(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.getByRole("button", { name: "Notes on Entries", exact: true }).click();
    const notes = page.getByRole("dialog", { name: "Notes on Entries" });
    await notes.getByText("&& is searched for as text. White space means AND.").waitFor();
    await page.keyboard.press("Escape");
    await notes.waitFor({ state: "detached" });
    const { panels, version } = await boardNamed("shop");
    expect(version).toBe(2);
    const placed = panels.map(({ title, x, y, h }) => [title, x, y, h]);
    expect(placed).toContainEqual(["Top patterns", 0, 0, 11]);
    expect(placed).toContainEqual(["Slowest requests", 5, expect.any(Number), 12]);
    // On a phone by the menu of a panel, and by its keys, which keep the focus.
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const arrange = page.getByRole("button", { name: "Move Top patterns", exact: true });
    await arrange.click();
    await page.getByRole("menuitem", { name: "Move down" }).click();
    await page.getByRole("status").getByText("Top patterns: 2 of 6").waitFor();
    expect(await page.getByRole("region").nth(1).getAttribute("aria-label")).toBe("Top patterns");
    await page.keyboard.press("Alt+ArrowUp");
    await page.getByRole("status").getByText("Top patterns: 1 of 6").waitFor();
    await expect.poll(() => arrange.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await tooWide(page)).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
    // Nothing differs from what is saved: no question.
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await arrange.click();
    await page.getByRole("menuitem", { name: "Move down" }).click();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Discard changes?" });
    await question.getByRole("button", { name: "Keep editing" }).click();
    await page.goBack();
    expect(await axeFaults(page, "dialog")).toEqual([]);
    await question.getByRole("button", { name: "Keep editing" }).click();
    expect(await page.getByRole("region").nth(1).getAttribute("aria-label")).toBe("Top patterns");
    // Signing out, too, from the menu of a phone and by the palette.
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await question.getByRole("button", { name: "Keep editing" }).click();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Sign out" }).click();
    await question.getByRole("button", { name: "Keep editing" }).click();
    // A panel asks about its own changes alone, and dropping them keeps those of the board.
    await page.getByRole("button", { name: "Edit Top patterns", exact: true }).click();
    const edited = page.getByRole("dialog", { name: "Edit panel" });
    await edited.getByLabel("Title").waitFor();
    await page.keyboard.press("Escape");
    await edited.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit Top patterns", exact: true }).click();
    await edited.getByLabel("Title").fill("Patterns");
    await page.keyboard.press("Escape");
    await question.getByText("The changes to the panel have not been saved.").waitFor();
    expect(await axeFaults(page, "dialog")).toEqual([]);
    await question.getByRole("button", { name: "Keep editing" }).click();
    // The place in the dialog is kept.
    const titled = edited.getByLabel("Title");
    await expect.poll(() => titled.evaluate((input) => input === document.activeElement)).toBe(true);
    await edited.getByRole("button", { name: "Cancel" }).click();
    await question.getByRole("button", { name: "Discard changes" }).click();
    await edited.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await question.getByText("The changes to the board shop have not been saved.").waitFor();
    await question.getByRole("button", { name: "Discard changes" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect((await boardNamed("shop")).version).toBe(2);
    await page.context().close();
  });

  it("19.4: a new board keeps its name while the projects are loaded again after an outage", async () => {
    const page = await opened(owner, "/boards");
    await page.getByRole("button", { name: "New board" }).waitFor();
    let isAway = true;
    await page.route(/\/projects(\?|$)/, (route) => (isAway ? route.abort() : route.continue()));
    await page.reload();
    await page.getByRole("button", { name: "New board" }).click();
    const dialog = page.getByRole("dialog", { name: "New board" });
    await dialog.getByLabel("Name").fill("Half a th");
    const project = dialog.getByLabel("Project", { exact: true });
    await project.filter({ hasText: "All projects" }).waitFor();
    isAway = false;
    // Asks again at once, and not after up to 15 s.
    await page.evaluate(() => dispatchEvent(new Event("online")));
    // The first project is the default, also of a dialog that was opened without projects.
    await project.filter({ hasText: "shop" }).waitFor();
    await choose(project, "All projects");
    await project.filter({ hasText: "All projects" }).waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Half a th");
    await page.context().close();
  });

  it("19.4: a table of the explorer is drawn as chosen, and saved to a new board", async () => {
    const q = "* | stats count() by category, bin(10m)";
    const page = await opened(owner, `/p/${tenant.projectId}?${new URLSearchParams({ range: "6h", q })}`);
    await page.getByRole("img", { name: /^count\(\) from / }).waitFor();
    await page.getByLabel("Area").check();
    await page.waitForURL((at) => at.searchParams.get("chart") === "area");
    expect(await axeFaults(page)).toEqual([]);
    // A selection is offered for as long as it is on the chart.
    const dialog = page.getByRole("dialog", { name: "Save to board" });
    const offersSelection = async (): Promise<boolean> => {
      await page.getByRole("button", { name: "Save to board" }).click();
      await dialog.getByRole("radio", { name: /^Same as the board/ }).waitFor();
      const count = await dialog.getByRole("radio", { name: /What is selected on the chart/ }).count();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      return count === 1;
    };
    await page.getByRole("slider").press("Home");
    expect(await offersSelection()).toBe(true);
    await page.getByLabel("Table").check();
    await page.getByRole("slider").waitFor({ state: "detached" });
    expect(await offersSelection()).toBe(false);
    await page.getByLabel("Area").check();
    await page.getByRole("button", { name: "Save to board" }).click();
    await choose(dialog.getByLabel("Board", { exact: true }), "New board");
    await dialog.getByLabel("Name").fill("Categories");
    await dialog.getByLabel("Title").fill("By category");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("link", { name: "Categories" }).click();
    await panel(page, "By category")
      .getByRole("img", { name: /^count/ })
      .waitFor();
    expect((await boardNamed("Categories")).panels).toMatchObject([{ title: "By category", query: q, kind: "area" }]);
    // The range and the refresh are in the address.
    await page.goto(`${new URL(page.url()).pathname}?range=15m&refresh=30`);
    await panel(page, "By category").getByRole("img").waitFor();
    // A request that fails leaves the answers, which are of an earlier time.
    const opacity = () =>
      panel(page, "By category")
        .getByRole("img")
        .evaluate((drawing) => {
          let least = 1;
          for (let at: Element | null = drawing; at !== null; at = at.parentElement)
            least = Math.min(least, Number(getComputedStyle(at).opacity));
          return least;
        });
    expect(await opacity()).toBe(1);
    await page.route("**/logger/search/batch", (route) => route.abort());
    await page.getByRole("button", { name: "Refresh now" }).click();
    await page.getByRole("alert").getByText("The service could not be reached").waitFor();
    await expect.poll(opacity).toBe(0.6);
    await page.unroute("**/logger/search/batch");
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await opacity()).toBe(1);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await tooWide(page)).toEqual([]);
    expect(await beyondTab(page)).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
    // Range and refresh stay in view above the panels, in a small bar, however long the name of the range is.
    await page.setViewportSize({ width: 360, height: 320 });
    for (const range of ["range=15m", "from=2026-11-27T22:59:59.999Z&to=2026-11-28T22:59:59.999Z"]) {
      await page.goto(`${new URL(page.url()).pathname}?${range}`);
      await panel(page, "By category").waitFor();
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      await page.waitForFunction(() => scrollY > 150);
      for (const control of [
        page.getByRole("button", { name: /^Time range/ }),
        page.getByRole("combobox", { name: "Refresh" }),
        page.getByRole("button", { name: "Refresh now" }),
      ]) {
        const box = await control.boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual(0);
        expect((box?.y ?? 48) + (box?.height ?? 0)).toBeLessThanOrEqual(48);
        expect((box?.x ?? 360) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
      }
    }
    await page.context().close();
  });

  it("19: an event that is over keeps its times on a board, with time around it; one that goes on has the times of the board", async () => {
    const { account } = tenant;
    const projectId = await createProject(url, account, "events");
    const key = await createKey(url, account, projectId);
    const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;
    await send(url, { account, projectId, key }, [
      { level: "error", message: "over", timestamp: hoursAgo(4) },
      { level: "error", message: "over", timestamp: hoursAgo(3.5) },
      { level: "error", message: "goes on", timestamp: hoursAgo(2) },
      { level: "error", message: "goes on", timestamp: hoursAgo(0.1) },
    ]);
    const chosenFor = async (q: string): Promise<string | null> => {
      const page = await opened(owner, `/p/${projectId}?${new URLSearchParams({ range: "12h", q })}`);
      await page.getByRole("region", { name: "Histogram" }).getByRole("button", { name: "Save to board" }).click();
      const time = page.getByRole("dialog", { name: "Save to board" }).getByRole("group", { name: "Time" });
      const chosen = await time.locator("label", { has: page.locator(":checked") }).textContent();
      await page.context().close();
      return chosen;
    };
    expect(await chosenFor("over")).toMatch(/^Fixed: .+Zoomed to the entries, with as much time before and after/);
    expect(await chosenFor('"goes on"')).toMatch(/^Same as the board/);
  });

  it("19.4: the histogram is saved with its fixed times, shown on the board, and given the times of the board again", async () => {
    // Of one moment, because a range that is 1 ms longer has wider bars.
    const now = Date.now();
    const range = { from: new Date(now - 7_200_000).toISOString(), to: new Date(now).toISOString() };
    const page = await opened(owner, `/p/${tenant.projectId}?${new URLSearchParams({ ...range, q: "entry" })}`);
    await page.getByRole("slider", { name: "Entries over time" }).press("Home");
    await page.getByRole("region", { name: "Histogram" }).getByRole("button", { name: "Save to board" }).click();
    const dialog = page.getByRole("dialog", { name: "Save to board" });
    expect(await dialog.getByLabel("Title").inputValue()).toBe("Entries with “entry” by level");
    const time = dialog.getByRole("group", { name: "Time" });
    expect(await time.getByRole("radio", { name: /^Fixed: .+The whole chart/ }).isChecked()).toBe(true);
    // A part of the chart has bins of its own.
    await time.getByRole("radio", { name: /^Fixed: .+What is selected on the chart/ }).check();
    await dialog.getByText("entry | count by level, bin(1s)").waitFor();
    await time.getByRole("radio", { name: /^Fixed: .+The whole chart/ }).check();
    await time
      .getByRole("radio", {
        name: "Same as the board Changes with the time above the panels.",
      })
      .waitFor();
    await choose(dialog.getByLabel("Board", { exact: true }), "Categories");
    expect(await axeFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 500 });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("link", { name: "Categories" }).click();
    const saved = panel(page, "Entries with “entry” by level");
    await page.locator('[data-marked="true"]').and(saved).waitFor();
    await saved.getByRole("img", { name: /^count/ }).waitFor();
    const place = await saved.boundingBox();
    expect(place?.y).toBeGreaterThan(0);
    expect((place?.y ?? 0) + (place?.height ?? 0)).toBeLessThan(500);
    const query = "entry | count by level, bin(1m)";
    expect((await boardNamed("Categories")).panels[1]).toMatchObject({ query, kind: "bars", range });
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("button", { name: "Edit Entries with “entry” by level" }).click();
    // With the range that the choice leads to.
    await page
      .getByRole("dialog")
      .getByRole("radio", { name: /^Same as the board Changes .+, now last / })
      .check();
    await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    const { panels } = await boardNamed("Categories");
    expect(panels[1]).toMatchObject({ query });
    expect(panels[1]).not.toHaveProperty("range");
    await page.locator('[data-marked="true"]').waitFor({ state: "detached" });
    expect(under.faults()).toEqual([]);
    await page.context().close();
  });
});
