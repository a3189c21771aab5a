import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, vi } from "vitest";
import { SENT_PAGES } from "../../src/objects/workspace/reads.ts";

// Vitest could fall back to Node and pass; these tests are valid only in the real runtime.
if (navigator.userAgent !== "Cloudflare-Workers") throw new Error("These tests must run inside workerd.");

// Here a result of an object is copied some turns later.
SENT_PAGES.freedAfterMs = 2000;

beforeAll(async () => {
  // The file before may have used this runtime. `reset` deletes what objects in memory have stored, so the databases are
  // loaded first. Objects that were idle for 10 s keep their storage.
  await Promise.all([env.DB, env.COLD_DB].map((database) => database.prepare("SELECT 1").run()));
  await env.BUCKET?.head("-");
  await reset();
  // SAFETY: vitest.config.ts sets the bindings.
  await applyD1Migrations(env.DB, env.MIGRATIONS as D1Migration[]);
  await applyD1Migrations(env.COLD_DB, env.COLD_MIGRATIONS as D1Migration[]);
});

afterAll(() => {
  vi.restoreAllMocks();
});
