import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const RULE = "(?:R|O)\\d+";

/** Titles of a test file, in its order. */
function titlesOf(file: string): string[] {
  return [...read(file).matchAll(/(?:\bit|\btest|\bdescribe|\))\(\s*(["`])(.*?)\1,/gs)].map(
    ([, , title = ""]) => title,
  );
}

const testFiles = readdirSync(path.join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => `test/${file.replaceAll(path.sep, "/")}`);

test("docs/accounts-rules.md lists exactly the tests whose titles begin with a rule", () => {
  const cited = [...read("docs/accounts-rules.md").matchAll(/<!-- tests:(\w+) -->\n(.*?)<!-- \/tests -->/gs)].flatMap(
    ([, rule, list = ""]) => {
      let file = "";
      return list.split("\n").flatMap((line) => {
        file = /^- `(.+)`:$/.exec(line)?.[1] ?? file;
        const title = /^ {2}- "(.+)"(?: \(group\))?$/.exec(line)?.[1];
        return title === undefined ? [] : [`${file} ${rule}: ${title}`];
      });
    },
  );
  const begun = new RegExp(`^${RULE}: `);
  const written = testFiles.flatMap((file) =>
    titlesOf(file)
      .filter((title) => begun.test(title))
      .map((title) => `${file} ${title}`),
  );
  expect(written.length).toBeGreaterThan(50);
  expect(cited.sort()).toEqual(written.sort());
});

test("the failure table of decision 13 cites titles of tests", () => {
  const flush = titlesOf("test/objects/flush/faults.test.ts");
  const deletion = titlesOf("test/objects/flush/deletion.test.ts");
  const bucket = titlesOf("test/unit/flush/bucket-faults.test.ts");
  const lines = read("docs/decisions/0013-a-flush-is-written-down-before-it-begins.md").split("\n");
  const cited = lines.filter((line) => line.startsWith("|")).flatMap((line) => [...line.matchAll(/"([^"]+)"/g)]);
  expect(cited.length).toBeGreaterThan(10);
  expect(
    cited.map(([, title]) => title).filter((title = "") => ![...flush, ...deletion, ...bucket].includes(title)),
  ).toEqual([]);
});
