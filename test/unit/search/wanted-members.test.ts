import { expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import { compileFilter } from "../../../src/logs/search/compile-filter.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { line, PROJECT } from "../segments/support.ts";

function compiled(text: string) {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return compileFilter(parsed.query.filter, Date.UTC(2026, 10, 22, 12));
}

it.each<[string, string[], string[]]>([
  ["status:200..399", [], ["status"]],
  ["user.id:x OR user.name:y", [], ["user", "user.id", "user.name"]],
  ["items[0].id:x", [], ["items"]],
  ["message:a* -session:*", ["message", "session"], []],
  ["pattern:*N* OR seq:>5 OR received:1h", ["message"], []],
  ["data.service:shop", ["service"], ["service"]],
  ["service:shop", ["service"], ["service", "service.name"]],
])("17.3: a line is read as far as its filter asks: %s", (text, texts, data) => {
  const members = compiled(text).rest?.members;
  expect([[...(members?.texts ?? [])], [...(members?.data ?? [])]]).toEqual([texts, data]);
});

it("17.3: a text needs the whole entry", () => {
  expect(compiled("one OR status:5").rest?.members).toBeNull();
});

it("17.3: members of recent lines are tested without a full parse", () => {
  const large = {
    status: 500,
    list: Array.from({ length: 500 }, (_, at) => ({ at })),
    "a.b": { c: "x" },
    __proto__x: 1,
  };
  const lines = [line(large), line({ ...large, status: 200 }), line({ "a.b": 5 }), line(undefined)];
  const run = (text: string) => {
    const meter = new WorkMeter();
    const found: number[] = [];
    new BatchMatcher(compiled(text), meter).forEachMatch(
      Buffer.from(lines.join("\n")),
      () => true,
      ({ index }) => found.push(index),
      (index) => expect.fail(`Line ${index} is not an entry.`),
      { projectId: PROJECT, seqAt: (index) => index + 1, receivedAtOf: () => 0 },
    );
    return { found, work: meter.done };
  };
  const parsed = run("status:>=500 OR absent");
  const partly = run("status:>=500 OR other:1");
  expect([parsed.found, partly.found]).toEqual([[0], [0]]);
  expect(partly.work).toBeLessThan(parsed.work * 0.7);
  expect(run("a.b.c:x").found).toEqual([0, 1]);
  expect(run("a.b:5 OR seq:4").found).toEqual([2, 3]);
  expect(run("message:~/message/ -status:*").found).toEqual([2, 3]);
});
