import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll } from "vitest";

// Vitest can fall back to Node and stay green; these tests mean nothing outside the real runtime.
if (navigator.userAgent !== "Cloudflare-Workers") throw new Error("These tests must run inside workerd.");

beforeAll(async () => {
  // SAFETY: the bindings are put there by vitest.config.ts.
  await applyD1Migrations(env.DB, env.MIGRATIONS as D1Migration[]);
  await applyD1Migrations(env.COLD_DB, env.COLD_MIGRATIONS as D1Migration[]);
});
