import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  databaseBindings,
  missingDatabases,
  withColdDatabase,
  withDatabaseId,
  withoutBucket,
} from "../../../scripts/lib/cloudflare.ts";
import { WRANGLER_CONFIG } from "../../../scripts/lib/paths.ts";

const CONFIG = readFileSync(WRANGLER_CONFIG, "utf8");

it("adds databases of segments to a configuration, up to nine", () => {
  let config = CONFIG;
  for (let number = 2; number <= 9; number++) {
    const added = withColdDatabase(config);
    expect(added.binding).toBe(`COLD_DB_${number}`);
    config = added.config;
  }
  expect(databaseBindings(config)).toEqual(["DB", "COLD_DB", ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `COLD_DB_${n}`)]);
  expect(missingDatabases(config)).toContain("taffrail-cold-9");
  expect(missingDatabases(withDatabaseId(config, "taffrail-cold-9", "id"))).not.toContain("taffrail-cold-9");
  expect(() => withColdDatabase(config)).toThrow("There are 9 databases");
});

it("removes only the bucket from a configuration", () => {
  const without = withoutBucket(CONFIG);
  expect(without).not.toContain("r2_buckets");
  expect(without).not.toContain("BUCKET");
  expect(databaseBindings(without)).toEqual(["DB", "COLD_DB"]);
  expect(without.length).toBeGreaterThan(CONFIG.length - 400);
});
