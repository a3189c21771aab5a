import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelsObject } from "../../../src/logql/labels.ts";
import { parseLogql } from "../../../src/logql/parse.ts";
import { pairsOf } from "../../../src/logql/parsers.ts";
import { type CompileRegex, Pipeline, type StageTools } from "../../../src/logql/pipeline.ts";
import { bytesOf, durationOf } from "../../../src/logql/units.ts";

const regex: CompileRegex = (source, isWhole) => {
  const compiled = new RegExp(isWhole ? `^(?:${source})$` : source, "s");
  return (text) => compiled.test(text);
};

/** Work units that were charged. */
let charged = 0;
const tools: StageTools = {
  compile: regex,
  charge: (units) => {
    charged += units;
  },
};

/** Runs the stages of a query for a line. @returns line and labels; `null` if the line is left out */
function run(stages: string, line: string, metadata: Record<string, string> = {}): Record<string, string> | null {
  const logs = parseLogql(`{app="a"} ${stages}`);
  if (logs.kind !== "logs") throw new Error("A metric has no lines.");
  const stream = new Map([["app", "a"]]);
  const entry = { timestamp: 0, line, stream, metadata: new Map(Object.entries(metadata)) };
  const processed = new Pipeline(logs, tools).run(entry);
  return processed && { line: processed.line, ...labelsObject(processed.labels.all()) };
}

describe("the stages of LogQL", () => {
  test("a text of a template that is too long is an error of the entry, never a part of the text", () => {
    const long = "x".repeat(600_000);
    const error = {
      __error__: "TemplateFormatErr",
      __error_details__: expect.stringContaining("1048576 characters"),
      app: "a",
    };
    expect(run('| line_format "{{__line__}}{{__line__}}"', long)).toEqual({ ...error, line: long });
    expect(run('| label_format b="{{__line__}}{{__line__}}"', long)).toEqual({ ...error, line: long });
    expect(run('| line_format `{{ __line__ | replace "x" "xx" | trunc -5 }}`', long)).toEqual({
      ...error,
      line: long,
    });
    expect(run('| line_format "{{__line__}}{{__line__}}" | __error__=""', long)).toBeNull();
    const half = "x".repeat(524_288);
    expect(run('| line_format "{{__line__}}{{__line__}}"', half)).toEqual({ line: half + half, app: "a" });
  });

  test("labels without a value stay until `keep` or `drop` takes them, and an error without details has none", () => {
    const parsed = (stages: string) => {
      const logs = parseLogql(`{app="a"} ${stages}`);
      if (logs.kind !== "logs") throw new Error("A metric has no lines.");
      const entry = { timestamp: 0, line: "plain", stream: new Map([["app", "a"]]), metadata: new Map() };
      return labelsObject(new Pipeline(logs, tools).run(entry)?.labels.categorized().parsed ?? new Map());
    };
    expect(parsed('| logfmt code="status", msg')).toEqual({ code: "", msg: "" });
    expect(parsed('| logfmt code="status", msg | keep app, msg')).toEqual({ msg: "" });
    expect(parsed('| json code="status"')).toEqual({ __error__: "JSONParserErr" });
  });

  test.for<[string, string, Record<string, string> | null]>([
    ['|= "b"', "abc", { line: "abc", app: "a" }],
    ['|= "B"', "abc", null],
    ['|= "x" or "c"', "abc", { line: "abc", app: "a" }],
    ['!= "x" or "c"', "abc", null],
    ['!~ "^b"', "abc", { line: "abc", app: "a" }],
    ["| json", '{"a":1,"b":{"c d":true,"1x":"y"},"l":[1],"n":null}', { a: "1", b_c_d: "true", b_1x: "y", app: "a" }],
    ["| json", '{"app":"z"}', { app: "a", app_extracted: "z" }],
    ['| json x="b.c[1]", y="q"', '{"b":{"c":[1,{"z":2}]}}', { x: '{"z":2}', app: "a" }],
    ["| json", "plain", { __error__: "JSONParserErr", app: "a" }],
    ['| json | __error__=""', "plain", null],
    ["| logfmt", 'a=1 b="x y" c= d e="q\\"r" =f g', { a: "1", b: "x y", e: 'q"r', app: "a" }],
    ["| logfmt --keep-empty", "a=", { app: "a" }],
    ['| logfmt --strict | __error__!=""', 'a="open', { __error__: "LogfmtParserErr", app: "a" }],
    ['| logfmt lvl="level"', "level=warn x=1", { lvl: "warn", app: "a" }],
    ["| logfmt | a > 5", "a=6", { a: "6", app: "a" }],
    ["| logfmt | a > 5", "b=6", null],
    ["| logfmt | a > 5", "a=x", { a: "x", __error__: "LabelFilterErr", app: "a" }],
    ["| logfmt | a >= 1s and b < 2KB", "a=1500ms b=1.9kb", { a: "1500ms", b: "1.9kb", app: "a" }],
    ['| logfmt | a="" or b=~"x.*"', "b=xyz a=1", { a: "1", b: "xyz", app: "a" }],
    ['| logfmt | line_format "{{.a}}-{{ .b | upper }}{{.none}}"', "a=1 b=x", { line: "1-X", a: "1", b: "x", app: "a" }],
    ['| logfmt | label_format c=a, d="{{.b}}!"', "a=1 b=x", { b: "x", c: "1", d: "x!", app: "a" }],
    ["| logfmt | drop a, app", "a=1 b=2", { b: "2" }],
    ["| logfmt | drop a=`2`", "a=1", { a: "1", app: "a" }],
    ["| logfmt | keep a", "a=1 b=2", { a: "1" }],
  ])("%s of %s", ([stages, line, expected]) => {
    const result = run(stages, line);
    const { line: _line, __error_details__: _details, ...labels } = result ?? {};
    const { line: wanted, ...wantedLabels } = expected ?? {};
    if (expected === null) return expect(result).toBeNull();
    expect(labels).toEqual(wantedLabels);
    expect(result?.line).toBe(wanted ?? line);
  });

  test("structured metadata has labels, and yields its name to the stream", () => {
    expect(run('| trace="t"', "x", { trace: "t", app: "m" })).toEqual({
      ...{ line: "x", app: "a", app_extracted: "m", trace: "t" },
    });
  });

  test("logfmt ends for any line, and its keys are parts of the line", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab= "\\\n\t\u00e9') }), (line) => {
        const pairs = [...pairsOf(line)];
        expect(pairs.length).toBeLessThanOrEqual(line.length);
        for (const pair of pairs) if (pair !== null) expect(line).toContain(pair.key);
      }),
    );
  });

  test.for([
    `| label_format a="xxxxxxxxxxxxxxxx"${'| label_format a="{{.a}}{{.a}}"'.repeat(16)}| line_format "{{.a${" | ToUpper | ToLower".repeat(50)}}}"`,
    "| json".repeat(100),
    "| logfmt".repeat(100),
  ])("stages that take too long for a line end the query: %s", (stages) => {
    charged = 0;
    expect(() => run(stages, JSON.stringify({ a: "x".repeat(60_000) }))).toThrow("take too long for a line");
    // Up to 50 ms, and the last step.
    expect(charged).toBeGreaterThan(33_000_000);
    expect(charged).toBeLessThan(45_000_000);
  });

  test("parsers and templates take any line", () => {
    const stages = '| json | logfmt | line_format `{{ Replace .a "a" "aa" -1 | trunc 5 }}{{ substr 1 3 .b }}`';
    fc.assert(fc.property(fc.string({ unit: "binary" }), (line) => run(stages, line) !== undefined));
    fc.assert(fc.property(fc.json(), (line) => run(stages, line) !== undefined));
  });
});

test("durations and sizes", () => {
  expect(durationOf("1h30m", true)).toBe(5400e9);
  expect(durationOf("1.5s", false)).toBe(1.5e9);
  expect(durationOf("1d", false)).toBeNull();
  expect(durationOf("-2m", false)).toBe(-120e9);
  expect(durationOf("5", true)).toBeNull();
  expect(bytesOf("1.5KB")).toBe(1500);
  expect(bytesOf("20 MiB")).toBe(20 * 1024 ** 2);
  expect(bytesOf("1,024")).toBe(1024);
  expect(bytesOf("x")).toBeNull();
});
