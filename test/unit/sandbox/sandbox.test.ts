import { describe, expect, test } from "vitest";
import { isId } from "../../../src/ids.ts";
import { looksLikeApiKey, parseApiKey } from "../../../src/keys/api-key.ts";
import { CATEGORY_TYPES, LEVELS } from "../../../src/logs/entry.ts";
import { buildBatch } from "../../../src/logs/ingest/build-batch.ts";
import { demoEntries } from "../../../src/sandbox/demo-entries.ts";
import { demoKey } from "../../../src/sandbox/reset.ts";
import { nextReset, RESET_EVERY_MS, SANDBOX_WORKSPACE_ID } from "../../../src/sandbox/sandbox.ts";

const PEPPER = "a pepper of at least thirty-two bytes";
const NOON = Date.UTC(2026, 10, 20, 12);

test("the sandbox's workspace has a valid workspace id", () => {
  expect(isId("ws", SANDBOX_WORKSPACE_ID)).toBe(true);
});

describe("the demo key", () => {
  test("is a key of the sandbox's workspace, shown by 18 characters", () => {
    const { secret, hash, prefix } = demoKey(NOON, PEPPER);
    expect(secret).toMatch(/^sk_demo_TaffrailDemo[0-9A-Za-z]{36}$/);
    expect(prefix).toBe(secret.slice(0, 18));
    expect(looksLikeApiKey(secret)).toBe(true);
    expect(parseApiKey(secret)).toEqual({ workspaceId: SANDBOX_WORKSPACE_ID, hash });
  });

  test("is the same at each derivation, and different for every epoch and every pepper", () => {
    expect(demoKey(NOON, PEPPER)).toEqual(demoKey(NOON, PEPPER));
    const keys = Array.from({ length: 500 }, (_, n) => demoKey(NOON + n, PEPPER).secret);
    keys.push(...Array.from({ length: 500 }, (_, n) => demoKey(NOON, `${PEPPER}${n}`).secret));
    expect(new Set(keys).size).toBe(1000);
    // 30 characters of secret, which look random.
    for (let at = 20; at < 50; at++) expect(new Set(keys.map((key) => key[at])).size).toBeGreaterThan(50);
  });
});

describe("the demo entries", () => {
  const entries = demoEntries(NOON);
  const times = entries.map(({ timestamp }) => Date.parse(timestamp));

  test("have every level, every built-in category and type, and custom categories", () => {
    expect(new Set(entries.map(({ level }) => level))).toEqual(new Set(LEVELS));
    const kinds = new Set(entries.map(({ category, type }) => `${category} ${type}`));
    for (const [category, types] of Object.entries(CATEGORY_TYPES)) {
      for (const type of types) expect(kinds).toContain(`${category} ${type}`);
    }
    expect(kinds).toContain("custom log");
    expect(kinds).toContain("billing invoice");
  });

  test("are within the last six hours, with some in every quarter of an hour", () => {
    expect(Math.max(...times)).toBeLessThanOrEqual(NOON);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(NOON - RESET_EVERY_MS);
    for (let from = NOON - RESET_EVERY_MS; from < NOON; from += 900_000) {
      expect(times.some((time) => time >= from && time < from + 900_000)).toBe(true);
    }
  });

  test("are linked: traces have several entries of one session, sessions have several traces", () => {
    const traces = Map.groupBy(entries, ({ traceId }) => traceId);
    for (const [traceId, steps] of traces) {
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(steps.length).toBeGreaterThan(1);
      expect(new Set(steps.map(({ session }) => session)).size).toBe(1);
    }
    expect(new Set(entries.map(({ spanId }) => spanId)).size).toBe(entries.length);
    const sessions = Map.groupBy(traces.values(), ([first]) => first?.session);
    for (const visits of sessions.values()) expect(visits.length).toBeGreaterThan(1);
  });

  test("are accepted whole by ingest, as one batch", () => {
    const built = buildBatch(entries, { now: NOON, oldest: NOON - 7 * 60 * 60 * 1000 });
    expect(built.rejected).toEqual([]);
    expect(built.batch?.count).toBe(entries.length);
    expect(entries.length).toBeGreaterThan(300);
  });
});

describe("resets", () => {
  test("are due at 00:00, 06:00, 12:00 and 18:00 UTC, always after the sandbox was created", () => {
    expect(nextReset(NOON)).toBe(NOON + RESET_EVERY_MS);
    expect(nextReset(NOON - 1)).toBe(NOON);
    expect(nextReset(NOON + 1)).toBe(NOON + RESET_EVERY_MS);
  });
});
