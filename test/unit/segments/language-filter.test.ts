import { describe, expect, test } from "vitest";
import { ALONE_UNITS, UNIT_NS, WORK, WorkMeter } from "../../../src/logs/query/budget.ts";
import { compileFilter } from "../../../src/logs/search/compile-filter.ts";
import { RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { bytesOf, encode, line, open, PROJECT } from "./support.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const own = Array.from({ length: 300 }, (_, at) =>
  line(
    {
      status: 200 + (at % 5) * 100,
      route: `/r${at % 3}`,
      ok: at % 2 === 0,
      user: { id: `u${at}` },
      tags: at % 10 === 0 ? ["Red", at] : undefined,
      mixed: at % 4 === 0 ? at : `m${at}`,
      "service.name": at % 2 === 0 ? "shop" : undefined,
    },
    { session: `s${at % 2}`, level: at % 3 === 0 ? "error" : "info" },
    at,
  ),
);
const bytes = bytesOf(encode(own, { groupRows: 100 }));
const file = open(bytes);
const { reader, chunk } = file;

function filterOf(text: string) {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return compileFilter(parsed.query.filter, NOW);
}

/** Returns the names of the columns that a filter reads of the first row group, and the number of rows that pass. */
function read(text: string, meter = new WorkMeter(), { reader, chunk } = file) {
  const filter = new RowGroupFilter(reader, 0, filterOf(text), { asOf: null, afterCommit: 0 }, meter);
  const steps = filter.steps((column) => chunk(0, column));
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next(), pauses++) meter.paused(1);
  const names = filter.columns.map((column) => reader.columns[column]?.name.replace("data.", ""));
  return { columns: names.join(" "), rows: step.value.rows.length, pauses, work: meter.done };
}

describe("17.3: a filter of the query language reads of a row group", () => {
  test.each([
    ["status:200..399", "status", 40],
    ["-status:200..399", "status", 60],
    ["status:500", "status", 20],
    ["status:(200 OR 500)", "status", 40],
    ["status:200 OR status:500", "status", 40],
    ["status:2*", "status", 20],
    ["status:~/^[23]/", "status", 40],
    ["route:/R1", "route", 33],
    ["route:=/r1", "route", 33],
    ["route:=/R1", "", 0],
    ["route:*1", "route", 33],
    ["-route:~/[01]$/", "route", 33],
    ["ok:true", "ok", 50],
    ["mixed:>90", "mixed:integer", 2],
    ["mixed:(m1 OR 4)", "mixed mixed:integer", 2],
    ["user.id:U7", "user.id shape rest", 1],
    ["tags:red", "shape rest", 10],
    ["-tags:*", "shape rest", 90],
    ["service:shop", 'data["service.name"] shape rest', 50],
    ["session:S1", "session", 50],
    ["-session:*", "", 0],
    ["trace:*", "", 0],
    ["seq:<=10", "seq", 10],
    ["-seq:11..20", "seq", 90],
    ["received:<2026-11-22T09:00:01", "received_at", 28],
    ["id:=log_0000000000015", "seq", 1],
    ["project:proj_000000000001", "", 100],
    ["-project:=proj_000000000001", "", 0],
    ["message:~/message 1$/", "message", 1],
    ["pattern:=x", "message", 0],
    ['pattern:="message <N>"', "message", 100],
    ['pattern:="message 1"', "message", 0],
    ['pattern:"MESSAGE <N>"', "message", 100],
    ['pattern:="message <N>" OR pattern:=x', "message", 100],
    ['-pattern:="message <N>"', "message", 0],
    ["pattern:=<N>", "message", 0],
    ["pattern:*", "", 100],
    ["status:>=200", "", 100],
    ["status:>900", "", 0],
    ["status:>900 OR seq:>200", "", 0],
    ["NOT (status:>900)", "", 100],
    ["status:500 route:*", "status", 20],
  ])("only what it needs: %s", (text, columns, rows) => {
    const found = read(text);
    expect([found.columns, found.rows]).toEqual([columns, rows]);
  });

  test("all strings for a text, and its project's id is constant", () => {
    expect(reader.properties.projectId).toBe(PROJECT);
    const { columns, rows } = read("~/u[12]3/ OR ~/GE 4/i");
    expect(columns).toContain("message");
    expect(columns).toContain("user.id");
    expect(rows).toBe(2 + 11);
  });

  test("opens a column once for a literal and the regular expression around it", () => {
    const filter = filterOf("message:~/message 1\\d$/ status:(200 OR 300)");
    const group = new RowGroupFilter(reader, 0, filter, { asOf: null, afterCommit: 0 }, new WorkMeter());
    const opened: string[] = [];
    const steps = group.steps((column) => {
      opened.push(reader.columns[column]?.name ?? "");
      return chunk(0, column);
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(opened).toEqual(["data.status", "message"]);
    expect([...step.value.rows]).toEqual([10, 11, 15, 16]);
  });

  test("in steps that the meter ends", () => {
    const meter = new WorkMeter(1);
    const { pauses, work } = read("~/u.*3/ -tags:red mixed:~/9/", meter);
    expect(pauses).toBeGreaterThan(20);
    expect(work).toBeGreaterThan(100_000);
  });

  test("texts of other members are not parsed again for each test", () => {
    const wide = Array.from({ length: 8 }, (_, at) =>
      line(
        {
          ...Object.fromEntries(Array.from({ length: 1200 }, (_, member) => [`k${member}`, member])),
          "x.y": [{ "z.é": at }],
          'q"': [{ b: at }],
        },
        {},
        at,
      ),
    );
    const wideFile = open(bytesOf(encode(wide)));
    const readWide = (text: string) => read(text, new WorkMeter(), wideFile);
    for (const found of ["x.y.z.é:3", '"q\\"".b:3', "x.y[0].z.é:3"]) expect(readWide(found).rows).toBe(1);
    for (const other of ["x.z.é:3", "x.y:3", "y.z.é:3"]) expect(readWide(other).rows).toBe(0);
    const one = readWide("absent.member:1").work;
    const many = readWide(Array.from({ length: 50 }, (_, at) => `absent${at}.member:1`).join(" OR ")).work;
    expect(many / one).toBeLessThan(30);
  });

  test("counts each string that is compared with a list", () => {
    const several = Array.from({ length: 30 }, (_, at) => `-user.id:(="a${at}" OR ="b${at}")`).join(" ");
    const single = Array.from({ length: 30 }, (_, at) => `-user.id:="a${at}"`).join(" ");
    expect(read('user.id:(="u7" OR ="u70" OR ="message")').rows).toBe(2);
    expect(read('user.id:(="u7" OR ="u17" OR ="u27" OR ="u37" OR ="u47" OR ="u57" OR ="u777")').rows).toBe(6);
    expect(read(several).work - read(single).work).toBe(30 * 100 * WORK.columnValue);
  });
});

describe("7: a filter on wide entries", () => {
  const wide = (data: (at: number) => object) =>
    open(bytesOf(encode(Array.from({ length: 150 }, (_, at) => line(data(at), {}, at)))));
  const members = (name: (item: number) => string) =>
    Object.fromEntries(Array.from({ length: 2000 }, (_, item) => [name(item), `v${item}`]));
  const files = {
    "members that no other entry has": wide((at) => members((item) => `k${at}_${item}`)),
    "a nested object": wide((at) => ({ a: members((item) => `k${at}_${item}`) })),
    "lists of objects": wide((at) => ({ a: Array.from({ length: 2000 }, (_, item) => ({ x: `ü${item}${at}` })) })),
  };
  const some = (test: (at: number) => string) => Array.from({ length: 15 }, (_, at) => test(at)).join(" OR ");

  // SAFETY: the object has no other members.
  test.each(Object.keys(files) as (keyof typeof files)[])("counts 50 ms between two pauses at most: %s", (name) => {
    const { reader, chunk } = files[name];
    for (const text of ["zzq", some((at) => `zz${at}*q`), some((at) => `a:zz${at}*q`), some((at) => `k${at}x:1`)]) {
      const meter = new WorkMeter(ALONE_UNITS);
      const filter = new RowGroupFilter(reader, 0, filterOf(text), { asOf: null, afterCommit: 0 }, meter);
      const steps = filter.steps((column) => chunk(0, column));
      let [paused, longest] = [0, 0];
      for (let isDone = false; !isDone; ) {
        isDone = steps.next().done === true;
        longest = Math.max(longest, meter.done - paused);
        if (!meter.isDue) continue;
        paused = meter.done;
        meter.paused(ALONE_UNITS);
      }
      expect((longest * UNIT_NS) / 1e6, text).toBeLessThan(50);
    }
    expect(reader.rowGroups.length).toBe(1);
  });
});
