import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { migrate, type SchemaSteps } from "../../src/platform/sql.ts";

it("an object's tables get the missing migrations, in order, once", () =>
  runInDurableObject(env.ADDRESSES.get(env.ADDRESSES.idFromName("migrate")), (_, { storage: { sql } }) => {
    const first = ["CREATE TABLE t (a INTEGER) STRICT", "INSERT INTO t (a) VALUES (1)"];
    const second = ["ALTER TABLE t ADD COLUMN b INTEGER", "UPDATE t SET b = a + 1"];
    const versions: SchemaSteps[] = [[first], [first], [first, second], [first, second]];
    for (const steps of versions) migrate(sql, steps);
    expect(sql.exec("SELECT a, b FROM t").toArray()).toEqual([{ a: 1, b: 2 }]);
    expect(sql.exec("SELECT version FROM schema_version").one().version).toBe(2);
  }));
