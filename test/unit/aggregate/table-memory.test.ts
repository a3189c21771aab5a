import { afterEach, describe, expect, it } from "vitest";
import { LeasedMemory, withLeasedMemory } from "../../../src/logs/query/memory.ts";
import type { ScanPool } from "../../../src/logs/stats/count-parts.ts";
import { runTable, type TableAnswer } from "../../../src/logs/stats/run-table.ts";
import { scanPart } from "../../../src/logs/stats/scan-part.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { COMPACTION_BYTES, pageMemory, queryMemory } from "../../../src/platform/isolate-memory.ts";
import type { MemoryLease } from "../../../src/platform/memory-pool.ts";
import { type TestEntry, TestStore } from "../query/store.ts";

const PROJECT = "proj_00000000000a";
const MIB = 1024 * 1024;
/** Rows with which a table begins: 1 MiB, and 1 MiB of what it reads. */
const ROWS = 2048;
const FIRST = 2 * MIB;
const FIELDS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const BODY = TableBody.parse({ aggregations: FIELDS.map((field) => ({ fn: "p99", field })) });

/** Segments of 4,000 entries with eight numbers each: 0.4 MiB of the state of `BODY`. */
function storeOf(segments: number): TestStore {
  const store = new TestStore();
  for (let segment = 0; segment < segments; segment++) {
    const entries = Array.from({ length: 4000 }, (_, at): TestEntry => {
      const data = Object.fromEntries(FIELDS.map((field, index) => [field, (at * (index + 3)) % 997]));
      return { timestamp: segment * 4000 + at, level: "info", category: "custom", type: "log", message: "m", data };
    });
    store.add(PROJECT, entries);
    store.flush(PROJECT, 1, "bucket", 4000);
  }
  return store;
}

/** Reads a table as a route does. */
async function tableOf(store: TestStore, scanners?: ScanPool): Promise<TableAnswer> {
  const source = { ...store.stats(2), scanners };
  const answer = await withLeasedMemory({ rows: ROWS }, async (memory) => {
    const result = await runTable(source, BODY, undefined, memory);
    if (!result.ok) throw new Error(result.reason);
    memory.release();
    return result.answer;
  });
  if (answer === null) throw new Error("There was no memory.");
  return answer;
}

const held: { release(): void }[] = [];

function hold(bytes: number): MemoryLease {
  const lease = queryMemory.tryTake(bytes);
  if (lease === null) throw new Error("The pool is full.");
  held.push(lease);
  return lease;
}

/** Waits until a read waits for memory, at most some seconds. */
async function waiting(): Promise<void> {
  for (let turn = 0; turn < 1000 && queryMemory.waiting === 0; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("the memory of a table", () => {
  afterEach(() => {
    for (const each of held.splice(0)) each.release();
    expect(queryMemory.held).toBe(0);
  });

  it("16: is waited for while a compaction and other reads hold it, and the answer is complete", async () => {
    const store = storeOf(4);
    const compaction = hold(COMPACTION_BYTES);
    const reading = hold(queryMemory.capacity - COMPACTION_BYTES - FIRST - MIB / 4);
    const answer = tableOf(store);
    await waiting();
    // All that the first attempt had is free again.
    expect(queryMemory.held).toBe(queryMemory.capacity - FIRST - MIB / 4);
    reading.release();
    compaction.release();
    expect(await answer).toMatchObject({ complete: true, exact: true, matched: 16_000, notes: [] });
  });

  it("16: suffices for four tables at once, beside an export, for which no table waits", async () => {
    const store = storeOf(4);
    const alone = await tableOf(store);
    const exporting = queryMemory.tryTakeAhead(queryMemory.capacity / 2);
    if (exporting === null) throw new Error("The pool is full.");
    held.push(exporting);
    const startedAt = performance.now();
    const answers = await Promise.all([1, 2, 3, 4].map(() => tableOf(store)));
    expect(performance.now() - startedAt).toBeLessThan(12_000);
    for (const answer of answers) expect(answer).toEqual(alone);
    expect(alone).toMatchObject({ complete: true, matched: 16_000 });
  });

  it("16: is not taken by parts of the same table that scan objects of the same isolate read", async () => {
    const store = storeOf(8);
    let calls = 0;
    const scanners: ScanPool = {
      slots: 3,
      sizes: { splitFrom: 0, part: 8000 },
      async scan(_, call) {
        const turns = 10 * calls++;
        const memory = LeasedMemory.tryTake(ROWS);
        if (memory === null) return { outcome: "refused" };
        const outcome = await scanPart(store.logs(1), structuredClone(call), memory);
        // What later parts read ahead takes all that is free.
        for (let turn = 0; turn < turns; turn++) {
          memory.grantInput(queryMemory.capacity, 0);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        memory.release();
        return outcome;
      },
    };
    const alone = await tableOf(store);
    expect(await tableOf(store, scanners)).toEqual(alone);
    expect(alone).toMatchObject({ complete: true, matched: 32_000 });
    // Nothing was read twice.
    expect(calls).toBe(4);
  });

  it("16: includes what was granted for reading ahead and is not used", async () => {
    const memory = await LeasedMemory.take(ROWS);
    if (memory === null) throw new Error("The pool is full.");
    held.push(memory);
    expect(memory.grantInput(8 * MIB, 0)).toBe(8 * MIB);
    memory.recordInput(3 * MIB);
    hold(queryMemory.capacity - queryMemory.held);
    // 1 MiB of rows, and 8 MiB less what the first read does not cover of 3 MiB.
    expect(memory.canHoldRows(7 * MIB)).toBe(true);
    expect(memory.canHoldRows(7 * MIB + 1)).toBe(false);
    expect(memory.grantInput(8 * MIB, 0)).toBe(2 * MIB);
  });

  it("is not waited for by a page of entries, behind which further pages wait", async () => {
    const store = storeOf(4);
    const compaction = hold(COMPACTION_BYTES);
    const reading = hold(queryMemory.capacity - COMPACTION_BYTES - FIRST - MIB / 4);
    const answer = tableOf(store);
    await waiting();
    const first = await LeasedMemory.takePage(100);
    const second = LeasedMemory.takePage(100);
    expect(first?.canHoldRows(MIB)).toBe(false);
    expect(pageMemory.waiting).toBe(1);
    first?.release();
    (await second)?.release();
    expect(pageMemory.held).toBe(0);
    reading.release();
    compaction.release();
    expect(await answer).toMatchObject({ complete: true, matched: 16_000 });
    // With free memory, pages leave the reserved part to others.
    const third = await LeasedMemory.takePage(100);
    expect(pageMemory.held).toBe(0);
    third?.release();
  });

  it("leaves what is free again to a page that waits, while another page has the reserved part", async () => {
    const whole = hold(queryMemory.capacity);
    const first = await LeasedMemory.takePage(100);
    const second = LeasedMemory.takePage(1000);
    expect(pageMemory.waiting).toBe(1);
    whole.release();
    (await second)?.release();
    expect(pageMemory.held).toBeGreaterThan(0);
    first?.release();
  });
});
