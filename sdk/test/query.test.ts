import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { expect, test } from "vitest";
import { format, parse, parseFilterText, placeAt } from "../src/query/index.ts";

const DIST = path.resolve(import.meta.dirname, "../dist/query");

test("taffrail/query reads, formats and completes queries", () => {
  const result = parse("level:>=error route:/api/* | stats count(), p99(ms) by route, bin(5m)");
  if (!result.ok) throw new Error(result.error.message);
  expect(format(result.query)).toBe("level:>=error route:/api/*\n| stats count(), p99(ms) by route, bin(5m)");
  expect(result.columns?.map(({ name }) => name)).toEqual(["route", "time", "count()", "p99(ms)"]);
  expect(parse("a | stats p9(ms)")).toMatchObject({ ok: false, error: { position: 10, suggestion: "p90" } });
  expect(parseFilterText("a | count")).toMatchObject({ ok: false, error: { position: 2 } });
  expect(placeAt("level:er", 8)).toMatchObject({ kind: "value", field: { name: "level" } });
});

test("taffrail/query is one file without imports, for import and require", () => {
  const code = readFileSync(path.join(DIST, "index.mjs"), "utf8");
  expect(code).not.toMatch(/^\s*import\b|\brequire\(|\bimport\(/m);
  const required: { parse: typeof parse } = createRequire(import.meta.url)(path.join(DIST, "index.cjs"));
  expect(required.parse("a").ok).toBe(true);
});
