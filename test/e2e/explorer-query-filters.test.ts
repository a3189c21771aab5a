import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTenant, type Tenant } from "../support/api.ts";
import {
  counted,
  explorerPath,
  NASTY,
  nextQuery,
  type SentEntry,
  type SentQuery,
  send,
  variedEntries,
} from "./explorer-query-support.ts";
import { choose } from "./support/choose.ts";
import { type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";

let console: ConsoleUnderTest;
let tenant: Tenant;
let sent: SentEntry[];
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  console = await startSharedConsole();
  tenant = await createTenant(console.server.url);
  sent = variedEntries(Date.now());
  await send(console.server.url, tenant, sent);
});

afterAll(() => console?.close());

beforeEach(async () => {
  // A zone other than UTC, so that confusing both fails.
  context = await console.open({
    as: tenant.account,
    timezoneId: "Europe/Berlin",
    viewport: { width: 1440, height: 900 },
  });
  page = await context.newPage();
});

afterEach(() => context.close());

async function open(search = ""): Promise<void> {
  await page.goto(explorerPath(tenant, search));
  await counted(page, /^\d+ entr(y|ies)$|^[\d,]+ loaded$/).waitFor();
}

/** The previous count stays until the new one arrives. */
async function histogramSettled(): Promise<void> {
  await page.locator('section[aria-label="Histogram"][aria-busy="false"]').waitFor();
}

interface FilterCase {
  name: string;
  act: () => Promise<void>;
  filters: Record<string, unknown>;
  passes: (entry: SentEntry) => boolean;
}

async function dataFilter(path: string, test: string, kind: string | null, value: string | null): Promise<void> {
  const form = page.getByRole("form", { name: "Data" });
  await form.getByLabel("Path").fill(path);
  await choose(form.getByLabel("Condition"), test);
  if (kind !== null) await choose(form.getByLabel("Data type"), kind);
  if (value !== null)
    await form
      .getByRole(test === "is one of" ? "textbox" : "combobox", { name: /^Values?/ })
      .last()
      .fill(value);
  await form.getByRole("button", { name: "Add data filter" }).click();
}

const CASES: FilterCase[] = [
  {
    name: "one level, then another",
    act: async () => {
      await page.getByRole("checkbox", { name: "error" }).check();
      await page.getByRole("checkbox", { name: "fatal" }).check();
    },
    filters: { level: ["error", "fatal"] },
    passes: ({ level }) => level === "error" || level === "fatal",
  },
  {
    name: "a least level",
    act: () => choose(page.getByLabel("At least"), "warn"),
    filters: { minLevel: "warn" },
    passes: ({ level }) => ["warn", "error", "fatal"].includes(level),
  },
  {
    name: "a category that occurs",
    act: () => page.getByRole("checkbox", { name: "http" }).check(),
    filters: { category: ["http"] },
    passes: ({ category }) => category === "http",
  },
  {
    name: "types, one typed in",
    act: async () => {
      await page.getByRole("checkbox", { name: "invoice" }).check();
      await page.getByLabel("Other type").fill("query");
      await page.keyboard.press("Enter");
    },
    filters: { type: ["invoice", "query"] },
    passes: ({ type }) => type === "invoice" || type === "query",
  },
  {
    name: "a session",
    act: async () => {
      await page.getByLabel("Session", { exact: true }).fill("session-1");
      await page.keyboard.press("Enter");
    },
    filters: { session: "session-1" },
    passes: ({ session }) => session === "session-1",
  },
  {
    name: "a trace",
    act: async () => {
      await page.getByLabel("Trace ID", { exact: true }).fill("trace-4");
      await page.getByRole("button", { name: "Set trace id" }).click();
    },
    filters: { traceId: "trace-4" },
    passes: ({ traceId }) => traceId === "trace-4",
  },
  {
    name: "a text, whatever its signs",
    act: async () => {
      await page.getByRole("combobox", { name: "Search", exact: true }).fill(JSON.stringify(NASTY));
      await page.keyboard.press("Enter");
    },
    filters: { q: JSON.stringify(NASTY) },
    passes: ({ message }) => message === NASTY,
  },
  {
    name: "a number in data, from and to",
    act: async () => {
      await dataFilter("status", "is at least", "number", "300");
      await page.getByText("status is at least 300").waitFor();
      await dataFilter("status", "is less than", "number", "500");
    },
    filters: { data: { status: { gte: 300, lt: 500 } } },
    passes: ({ data }) => data.status >= 300 && data.status < 500,
  },
  {
    name: "true or false in data",
    act: () => dataFilter("ok", "is", "true or false", "true"),
    filters: { data: { ok: true } },
    passes: ({ data }) => data.ok,
  },
  {
    name: "null in data",
    act: () => dataFilter("plan", "is", "null", null),
    filters: { data: { plan: null } },
    passes: ({ data }) => data.plan === null,
  },
  {
    name: "anything but a text in data",
    act: () => dataFilter("plan", "is not", "text", "team"),
    filters: { data: { plan: { ne: "team" } } },
    passes: ({ data }) => data.plan !== "team",
  },
  {
    name: "one of several values in data, by a longer path",
    act: () => dataFilter("user.id", "is one of", "number", "3\n5\n8"),
    filters: { data: { "user.id": { in: [3, 5, 8] } } },
    passes: ({ data }) => [3, 5, 8].includes(data.user.id),
  },
  {
    name: "a member that exists, its name with a dot",
    act: () => dataFilter('["a.b"]', "exists", null, null),
    filters: { data: { '["a.b"]': { exists: true } } },
    passes: ({ data }) => data["a.b"] !== undefined,
  },
  {
    name: "a member that does not exist",
    act: () => dataFilter('["a.b"]', "does not exist", null, null),
    filters: { data: { '["a.b"]': { exists: false } } },
    passes: ({ data }) => data["a.b"] === undefined,
  },
];

describe("filters", () => {
  it.each(CASES)("request $name, and again after a reload", async ({ act, filters, passes }) => {
    await open();
    await counted(page, `${sent.length} entries`).waitFor();
    const isIt = (query: SentQuery): boolean => {
      const { from, ...simple } = query.filters;
      // The query is beside the filters.
      const others = query.q === undefined ? simple : { ...simple, q: query.q };
      return typeof from === "string" && JSON.stringify(others) === JSON.stringify(filters);
    };
    const asked = nextQuery(page, isIt);
    await act();
    const { projectId, order } = await asked;
    expect({ projectId, order }).toEqual({ projectId: tenant.projectId, order: "desc" });
    const found = sent.filter(passes).length;
    const text = `${found} ${found === 1 ? "entry" : "entries"}`;
    await counted(page, text).waitFor();
    const { href } = new URL(page.url());
    const again = nextQuery(page, isIt);
    await page.reload();
    await again;
    await counted(page, text).waitFor();
    expect(page.url()).toBe(href);
  });

  it("5: show for each name the count of entries that match the other filters", async () => {
    await open("?level=error&category=http");
    const beside = (group: string, name: string, count: number): Promise<void> => {
      const labels = page.getByRole("group", { name: group }).locator("label");
      return labels.filter({ hasText: new RegExp(`^${name}${count}$`) }).waitFor();
    };
    const errors = sent.filter(({ level }) => level === "error");
    // The selection of categories excludes no category, so that another one can be selected.
    for (const name of ["http", "database", "billing"]) {
      await beside("Category", name, errors.filter(({ category }) => category === name).length);
    }
    const inHttp = errors.filter(({ category }) => category === "http");
    for (const name of ["request", "response"]) {
      await beside("Type", name, inHttp.filter(({ type }) => type === name).length);
    }
    const types = page.getByRole("group", { name: "Type" });
    expect(await types.getByText("invoice").count()).toBe(0);
    // A selected name without entries shows 0.
    await page.goto(explorerPath(tenant, "?level=error&category=nothing"));
    await beside("Category", "nothing", 0);
    await page.goto(explorerPath(tenant, `?${new URLSearchParams({ search: NASTY })}`));
    const [found] = sent.filter(({ message }) => message === NASTY);
    await beside("Category", found?.category ?? "", 1);
    await beside("Type", found?.type ?? "", 1);
  });

  it("are removed with their chips, and follow the browser's back and forward buttons", async () => {
    await open("?level=error&category=http");
    await page.getByRole("button", { name: "Remove filter: category http" }).click();
    const errors = sent.filter(({ level }) => level === "error").length;
    await counted(page, `${errors} entries`).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await counted(page, `${sent.length} entries`).waitFor();
    await page.goBack();
    await counted(page, `${errors} entries`).waitFor();
    expect(new URL(page.url()).search).toBe("?level=error");
    await page.goForward();
    await counted(page, `${sent.length} entries`).waitFor();
  });

  it("report invalid parameters of a link", async () => {
    await open("?level=loud&data=%7B&range=3y&search=entry");
    await page.getByRole("alert").filter({ hasText: "level, data, range" }).waitFor();
  });

  it("suggest paths and values of loaded entries", async () => {
    await open();
    const form = page.getByRole("form", { name: "Data" });
    const listed = (input: ReturnType<typeof form.getByLabel>): Promise<string[]> =>
      input.evaluate((element) => {
        // SAFETY: the labelled field is an input.
        const { list } = element as HTMLInputElement;
        return [...(list?.options ?? [])].map(({ value }) => value);
      });
    expect(await listed(form.getByLabel("Path"))).toEqual(expect.arrayContaining(["status", "user.id", '["a.b"]']));
    await form.getByLabel("Path").fill("status");
    expect(await form.getByLabel("Data type").textContent()).toBe("number");
    expect((await listed(form.getByLabel("Value", { exact: true }))).sort()).toEqual(["200", "300", "400", "500"]);
  });
});

describe("the time range", () => {
  it("is chosen in the local time zone and requested in UTC", async () => {
    await open();
    const from = new Date(Math.floor((sent[30]?.timestamp ?? 0) / 60_000) * 60_000);
    const to = new Date(from.getTime() + 10 * 60_000);
    const local = (date: Date): string =>
      date.toLocaleString("sv-SE", { timeZone: "Europe/Berlin" }).replace(" ", "T").slice(0, 19);
    await choose(page.getByLabel("Time range"), "Custom range");
    await page.getByLabel("From", { exact: true }).fill(local(from));
    await page.getByLabel("To", { exact: true }).fill(local(to));
    const asked = nextQuery(page, ({ filters }) => filters.to !== undefined);
    await page.getByRole("button", { name: "Apply" }).click();
    expect((await asked).filters).toEqual({ from: from.toISOString(), to: to.toISOString() });
    await counted(page, /^10 entries$/).waitFor();
    await page.reload();
    await counted(page, /^10 entries$/).waitFor();
  });

  it("stays relative on a reload", async () => {
    await open("?range=15m&order=asc");
    const asked = nextQuery(page);
    await page.reload();
    const { filters, order } = await asked;
    expect(order).toBe("asc");
    const minutes = (Date.now() - Date.parse(String(filters.from))) / 60_000;
    expect(minutes).toBeGreaterThan(14.9);
    expect(minutes).toBeLessThan(17);
  });

  it("follows a selection in the histogram, and zooms out again", async () => {
    await open("?range=1h");
    const plot = page.locator(".u-over");
    await plot.waitFor();
    const box = await plot.boundingBox();
    if (box === null) throw new Error("There is no plot.");
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 });
    const asked = nextQuery(page, ({ filters }) => filters.to !== undefined);
    await page.mouse.up();
    const { filters } = await asked;
    const [start, end] = [Date.parse(String(filters.from)), Date.parse(String(filters.to))];
    expect((end - start) / 60_000).toBeGreaterThanOrEqual(15);
    expect((end - start) / 60_000).toBeLessThanOrEqual(18);
    const within = sent.filter(({ timestamp }) => timestamp >= start && timestamp < end).length;
    await counted(page, `${within} entries`).waitFor();
    await page.goBack();
    await page.waitForURL((url) => url.search === "?range=1h");
  });

  it("shows the counts of the bar below the pointer", async () => {
    await open("?range=1h");
    const plot = page.locator(".u-over");
    await plot.hover();
    await page.getByText(/\d\d:\d\d – \d\d:\d\d/).waitFor();
  });

  it("can be zoomed in the histogram's table, too", async () => {
    await open("?range=1h&level=error");
    await page.getByRole("button", { name: "Show table" }).click();
    const table = page.getByRole("table");
    await table.getByRole("columnheader", { name: "error" }).waitFor();
    const asked = nextQuery(page, ({ filters }) => filters.to !== undefined);
    await table
      .getByRole("button", { name: /^Zoom to/ })
      .first()
      .click();
    await asked;
    await counted(page, /^1 entry$/).waitFor();
  });

  it("is open for all time, and the histogram fits its entries", async () => {
    await open();
    const asked = nextQuery(page);
    await choose(page.getByLabel("Time range"), "All time");
    expect((await asked).filters).toEqual({});
    await counted(page, `${sent.length} entries`).waitFor();
    await histogramSettled();
    const bars = Number(await page.getByRole("slider").getAttribute("aria-valuemax"));
    expect(bars).toBeGreaterThan(50);
    expect(bars).toBeLessThan(70);
  });
});

describe("the explorer", () => {
  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
