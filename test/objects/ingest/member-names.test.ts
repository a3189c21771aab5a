import { expect, test } from "vitest";
import { decodeBody } from "../../../src/logs/batch.ts";
import { readIngestBody } from "../../../src/logs/ingest/lines-reader.ts";
import { inOneTurn } from "../../../src/platform/turns.ts";

const now = Date.UTC(2026, 10, 20);

/** Names with a backslash escape, or names that begin like one. */
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
  const {
    batches: [batch],
  } = inOneTurn(readIngestBody(new TextEncoder().encode(body), "application/json", { now, oldest: null }));
  if (batch === undefined) throw new Error("The entry was refused.");
  const { data } = JSON.parse(new TextDecoder().decode(decodeBody(batch.encoding, batch.body)));
  return Object.keys(data);
}

/**
 * The parser guesses the next member's name from objects that it parsed before. V8 13.6 (Node 24) then reads the name
 * `"\""` as a backslash if an object with a backslash in that position was parsed before. The service must not misread
 * names.
 */
test("the runtime reads every member name correctly, whatever objects it read before", () => {
  let layout = 0;
  const wrong: string[] = [];
  for (const before of NAMES.flatMap(spellings)) {
    for (const name of NAMES) {
      for (const spelling of spellings(name)) {
        for (const value of ["1", '"漢"']) {
          // A unique first member, so that guesses of other rounds do not apply.
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
