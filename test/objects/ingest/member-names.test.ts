import { expect, test } from "vitest";
import { parseEntries } from "../../../src/logs/ingest/parse-entries.ts";

/** Names that are written with a backslash, or that look like the beginning of one that is. */
const NAMES = [
  "\\",
  '"',
  "\n",
  "/",
  "A",
  "a\\",
  'a"',
  "a\n",
  '\\"',
  '"\\',
  "\\\\",
  "\\n",
  "\\u0041",
  "漢\\",
  '漢"',
  "漢",
  "😀",
  "",
];

function spellings(name: string): string[] {
  const escaped = Array.from({ length: name.length }, (_, at) => {
    return `\\u${name.charCodeAt(at).toString(16).padStart(4, "0")}`;
  });
  return [JSON.stringify(name), `"${escaped.join("")}"`, JSON.stringify(name).replaceAll("/", "\\/")];
}

function namesOf(body: string): string[] {
  const parsed = parseEntries(new TextEncoder().encode(body), "application/json");
  const [entry] = parsed.ok ? parsed.entries.values : [];
  return Object.keys(entry ?? {});
}

/**
 * The parser guesses the next member's name from objects it read before. V8 13.6, which is in Node 24, then takes the name
 * `"\""` for a backslash where an object with a backslash in that place was read: a log service must not.
 */
test("the runtime reads every member name right, whatever objects it read before", () => {
  let layout = 0;
  const wrong: string[] = [];
  for (const before of NAMES.flatMap(spellings)) {
    for (const name of NAMES) {
      for (const spelling of spellings(name)) {
        for (const value of ["1", '"漢"']) {
          // A first member of its own, so that no other round's guesses count.
          const first = `m${layout++}`;
          for (let times = 0; times < 2; times++) namesOf(`{"${first}":${value},${before}:1}`);
          const [, read] = namesOf(`{"${first}":${value},${spelling}:[]}`);
          if (read !== name) wrong.push(`${spelling} after ${before}: ${JSON.stringify(read)}`);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
});
