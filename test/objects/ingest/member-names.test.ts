import { expect, test } from "vitest";
import { decodeBody } from "../../../src/logs/batch.ts";
import { readIngestBody } from "../../../src/logs/ingest/ingest-body.ts";
import { inOneTurn } from "../../../src/platform/turns.ts";

const now = Date.UTC(2026, 10, 20);

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
  const { built } = inOneTurn(
    readIngestBody(new TextEncoder().encode(body), "application/json", { now, oldest: null }),
  );
  if (built.batch === null) throw new Error("The entry was refused.");
  const { data } = JSON.parse(new TextDecoder().decode(decodeBody(built.batch.encoding, built.batch.body)));
  return Object.keys(data);
}

/**
 * The parser guesses the next member's name from objects it read before. V8 13.6, which is in Node 24, then takes the name
 * `"\""` for a backslash where an object with a backslash in that place was read: a log service must not.
 */
test("the runtime reads every member name correctly, whatever objects it read before", () => {
  let layout = 0;
  const wrong: string[] = [];
  for (const before of NAMES.flatMap(spellings)) {
    for (const name of NAMES) {
      for (const spelling of spellings(name)) {
        for (const value of ["1", '"漢"']) {
          // A first member of its own, so that no other round's guesses count.
          const first = `m${layout++}`;
          for (let times = 0; times < 2; times++) namesOf(`{"message":"m","${first}":${value},${before}:1}`);
          const [, read] = namesOf(`{"message":"m","${first}":${value},${spelling}:[]}`);
          if (read !== name) wrong.push(`${spelling} after ${before}: ${JSON.stringify(read)}`);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
});
