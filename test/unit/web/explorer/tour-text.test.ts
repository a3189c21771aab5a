import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { examplesOf, type Inline, rulesOf } from "../../../../web/src/pages/explorer/actions/tour-text.ts";

const DOCUMENT = readFileSync(path.join(import.meta.dirname, "../../../../docs/query-language.md"), "utf8");
const textOf = (parts: readonly Inline[]): string => parts.map(({ text }) => text).join("");

it("reads the ten examples of the document, whose queries are valid", () => {
  const examples = examplesOf(DOCUMENT);
  expect(examples).toHaveLength(10);
  expect(examples[0]?.queries).toEqual(['"timed out" gateway']);
  expect(examples[6]?.queries).toHaveLength(2);
  for (const { text, queries } of examples) {
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) expect([query, parse(query).ok]).toEqual([query, true]);
    // No mark of the document is left.
    expect(textOf(text.filter(({ kind }) => kind !== "code"))).not.toMatch(/`|\*\*|\]\(/);
  }
});

it("reads the table of filters", () => {
  const rules = rulesOf(DOCUMENT).map(([write, finds]) => [textOf(write), textOf(finds)]);
  expect(rules.length).toBeGreaterThan(12);
  expect(rules[0]).toEqual(["* or nothing", "all"]);
  expect(rules.at(-1)?.[0]).toBe("a OR b");
  expect(rules.every(([write, finds]) => write !== "" && finds !== "")).toBe(true);
});
