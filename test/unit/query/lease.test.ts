import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QUERY_BUDGET } from "../../../src/logs/query/budget.ts";
import { encodeCursor, fingerprint, RESUMABLE_SCAN_START } from "../../../src/logs/query/cursor.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { TestStore } from "./store.ts";

const PROJECT = "proj_00000000000a";
const NOW = Date.parse("2026-11-20T14:00:00.000Z");
const filters = { search: "nowhere" };

/** A store with a single batch of 20 MiB. */
function largeBatch(): TestStore {
  const store = new TestStore(PROJECT);
  const entry = { timestamp: NOW, level: "info", category: "custom", type: "log", message: "x".repeat(4000) } as const;
  store.add(PROJECT, Array(5000).fill(entry));
  return store;
}

describe("A3: the lease of a read that scans one large batch", () => {
  let pauses = 0;
  beforeEach(() => {
    pauses = 0;
    const wait = globalThis.setTimeout;
    vi.stubGlobal("setTimeout", (call: () => void) => {
      pauses++;
      return wait(call, 0);
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  const sweeping = () =>
    encodeCursor({
      ...{ asOf: 1, order: "desc", skip: 0, resume: RESUMABLE_SCAN_START },
      fingerprint: fingerprint(QueryBody.parse({ filters }).filter, PROJECT),
      position: { timestamp: NOW, seq: null },
    });

  it.each([
    [
      "a query",
      (memory: ReadMemory) =>
        runQuery(largeBatch().logs(5), QueryBody.parse({ filters }), Date.now, QUERY_BUDGET, memory),
    ],
    [
      "a sweep",
      (memory: ReadMemory) => {
        const query = QueryBody.parse({ filters, pagination: { cursor: sweeping() } });
        return runQuery(largeBatch().logs(5), query, Date.now, QUERY_BUDGET, memory);
      },
    ],
    [
      "a histogram",
      (memory: ReadMemory) =>
        runStats(largeBatch().stats(5), HistogramBody.parse({ filters, interval: "1m" }), QUERY_BUDGET, memory),
    ],
  ])("A3: is renewed in every pause of %s", async (_, read) => {
    let renewals = 0;
    const renew = () => {
      renewals++;
    };
    expect(await read({ ...UNBOUNDED_MEMORY, renew })).toMatchObject({ ok: true });
    expect(pauses).toBeGreaterThan(3);
    expect(renewals).toBeGreaterThanOrEqual(pauses);
  });
});
