import { expect, it } from "vitest";
import { hasEnded, keyState } from "../../../web/src/model/key-state.ts";

const NOW = Date.parse("2026-06-01T00:00:00.000Z");
const DAY_MS = 86_400_000;

it.each([
  ["active", null, null],
  ["active", 8 * DAY_MS, null],
  ["ends soon", 6 * DAY_MS, null],
  ["expired", 0, null],
  ["deleted", null, -DAY_MS],
  ["deleted", -DAY_MS, -DAY_MS],
])("returns %s for a key that expires in %s ms and was deleted at %s", (state, end, revoked) => {
  const iso = (ms: number | null): string | null => (ms === null ? null : new Date(NOW + ms).toISOString());
  const key = {
    id: "key_a",
    name: "a",
    scopes: [],
    prefix: "sk_a",
    projectId: "proj_a",
    createdAt: "2026-01-01T00:00:00.000Z",
    expiresAt: iso(end),
    revokedAt: iso(revoked),
    lastUsedAt: null,
    mapping: {},
    dedupe: "auto" as const,
    hasVercelSecret: false,
  };
  expect(keyState(key, NOW)).toBe(state);
  expect(hasEnded(key, NOW)).toBe(state === "expired" || state === "deleted");
});
