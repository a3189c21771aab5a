import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WorkspaceObject } from "../../../src/objects/workspace/workspace.ts";
import { UnflushedBatches } from "../../../src/workspace/flush/schedule.ts";
import { BatchIndex } from "../../../src/workspace/recent/batch-index.ts";
import { bearer, call } from "../accounts/support.ts";
import { newTenant, numbered, receiptOf, send, type Tenant } from "../ingest/support.ts";
import { AGED_MS, clock, tiers } from "./support.ts";

const BATCHES = 24;
const ENTRIES = 7;
const TOTAL = BATCHES * ENTRIES;
/** Batches that one flush step moves here. */
const STEP = 2;

let tenant: Tenant;
/** Pages after the first one; a flush step ran before each of them. */
let steps = 0;
/** The object that served the last page. */
let asked: WorkspaceObject | undefined;

beforeEach(async () => {
  clock.start();
  tenant = await newTenant();
  for (let batch = 0; batch < BATCHES; batch++) {
    receiptOf(await send(tenant, numbered(ENTRIES)));
    clock.pass(20_000);
  }
  clock.pass(AGED_MS);
  steps = 0;
  const { nextRange } = UnflushedBatches.prototype;
  vi.spyOn(UnflushedBatches.prototype, "nextRange").mockImplementation(function (this: UnflushedBatches) {
    const range = nextRange.call(this);
    if (range === null) return null;
    const { firstSeq, firstCommit } = range;
    const lastSeq = Math.min(range.lastSeq, firstSeq + STEP * ENTRIES - 1);
    return { ...range, lastSeq, lastCommit: Math.min(range.lastCommit, firstCommit + STEP - 1) };
  });
  const { recent, recentCounts } = WorkspaceObject.prototype;
  vi.spyOn(WorkspaceObject.prototype, "recent").mockImplementation(async function (this: WorkspaceObject, read) {
    asked = this;
    if (read.scan.position !== null) await step(this);
    return recent.call(this, { ...read, scan: { ...read.scan, maxBytes: 1 } });
  });
  vi.spyOn(WorkspaceObject.prototype, "recentCounts").mockImplementation(async function (this: WorkspaceObject, read) {
    const { after } = read.scan;
    if (after > 0) await step(this);
    const result = await recentCounts.call(this, { ...read, scan: { ...read.scan, asOf: after + 1 } });
    const next = after + 1 < BATCHES ? after + 1 : null;
    return result.ok ? { ...result, value: { ...result.value, asOf: BATCHES, next } } : result;
  });
});

afterEach(() => clock.stop());

async function step(object: WorkspaceObject): Promise<void> {
  steps++;
  await object.alarm();
}

const ask = (path: string, body: object) => call(path, { body, headers: bearer(tenant.secret) });

describe("26: a read with a flush step between its pages", () => {
  it.each(["asc", "desc"] as const)("returns every entry once, in order, as a query (%s)", async (order) => {
    const answer = await ask("/logger/query", { order, pagination: { limit: 1000, includeTotal: true } });
    expect(answer.status).toBe(200);
    // SAFETY: the page's schema is tested elsewhere.
    const page = answer.data as { logs: { seq: number }[]; pagination: object; complete: boolean };
    const seqs = Array.from({ length: TOTAL }, (_, index) => index + 1);
    expect(page.logs.map(({ seq }) => seq)).toEqual(order === "asc" ? seqs : seqs.reverse());
    expect(page).toMatchObject({ complete: true, pagination: { total: TOTAL, hasMore: false } });
    await expectSteps();
  });

  it.each([{}, { search: "a" }, { search: "no such text" }])(
    "counts every entry once, as a histogram (%j)",
    async (filters) => {
      const still = await ask("/logger/query", { filters, pagination: { limit: 1, includeTotal: true } });
      const answer = await ask("/logger/stats", { filters, interval: "1m" });
      expect(answer.status).toBe(200);
      // SAFETY: as above.
      const wanted = (still.data as { pagination: { total: number } }).pagination.total;
      expect(answer.data).toMatchObject({ complete: true, total: wanted });
    },
  );

  it.each(["asc", "desc"] as const)("A3: is exact if selecting batches takes several turns (%s)", async (order) => {
    const { selectInTurns } = BatchIndex.prototype;
    vi.spyOn(BatchIndex.prototype, "select").mockReturnValue(null);
    // Selected batches move before the page is built from them.
    vi.spyOn(BatchIndex.prototype, "selectInTurns").mockImplementation(async function (this: BatchIndex, ...wanted) {
      const selected = await selectInTurns.apply(this, wanted);
      await asked?.alarm();
      return selected;
    });
    const answer = await ask("/logger/query", { order, pagination: { limit: 1000 } });
    expect(answer.status).toBe(200);
    // SAFETY: as above.
    const seqs = (answer.data as { logs: { seq: number }[] }).logs.map(({ seq }) => seq);
    const expected = Array.from({ length: TOTAL }, (_, index) => index + 1);
    expect(order === "asc" ? seqs : seqs.reverse()).toEqual(expected);
  });

  it("counts every entry once, as a histogram from summaries", async () => {
    const answer = await ask("/logger/stats", { interval: "1m" });
    expect(answer.data).toMatchObject({ complete: true, total: TOTAL });
    await expectSteps();
  });
});

/** No read started again from the beginning, and every step moved as much as it could. */
async function expectSteps(): Promise<void> {
  expect(steps).toBeGreaterThanOrEqual(BATCHES / 3);
  expect(steps).toBeLessThan(BATCHES);
  expect(await tiers(tenant)).toEqual({ cold: Math.min(steps * STEP, BATCHES) * ENTRIES, recent: expect.any(Number) });
}
