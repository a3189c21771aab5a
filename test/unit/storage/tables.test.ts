import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DOCUMENTS, documentPath, tablesWithoutText, withTables } from "../../../scripts/lib/storage-tables.ts";
import { EMAIL_SCHEMA, USER_SCHEMA } from "../../../src/accounts/schema.ts";
import type { SchemaSteps } from "../../../src/platform/sql.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";

describe("the storage documents", () => {
  it.each(DOCUMENTS)("%s has the tables, columns, keys and comments of the DDL (`npm run docs:tables`)", (document) => {
    const text = readFileSync(documentPath(document), "utf8");
    expect(withTables(document, text)).toBe(text);
  });

  it("describe every table", () => {
    expect(tablesWithoutText()).toEqual([]);
  });
});

/** A digest of each step, without comments and layout. */
function digests(steps: SchemaSteps): string[] {
  const plain = (statement: string) =>
    statement
      .replace(/--[^\n]*/g, "")
      .replace(/\s+/g, " ")
      .replace(/ ?([(),]) ?/g, "$1")
      .trim();
  return steps.map((step) => createHash("sha256").update(step.map(plain).join(";")).digest("hex").slice(0, 12));
}

// Objects that have taken a step never take it again, so a change of it would make two kinds of object.
describe("released steps of the objects' schemas", () => {
  it.each([
    [
      "workspace",
      WORKSPACE_SCHEMA,
      ["0069f3b7f04c", "e5f8bed2d69d", "7ba1f3dc8782", "715759739e14", "7ce0f6c39e12", "0d8ec5f9c956", "c13ccdeaddde"],
    ],
    [
      "user",
      USER_SCHEMA,
      ["0c073d2f1ae5", "09e23df84779", "ae8c2cdcccfc", "125019b5f94f", "35c023755e50", "43be25ca601f"],
    ],
    ["e-mail address", EMAIL_SCHEMA, ["7c11e2c1d862", "59a873040176"]],
  ])("are unchanged but for comments: %s", (_, steps, released) => {
    expect(digests(steps).slice(0, released.length)).toEqual(released);
  });
});
