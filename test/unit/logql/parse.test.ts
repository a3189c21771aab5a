import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LogqlError } from "../../../src/logql/error.ts";
import { parseLogql, parseMatchers } from "../../../src/logql/parse.ts";
import { printLogql } from "../../../src/logql/print.ts";

/** Queries that Loki accepts. */
const ACCEPTED = [
  '{foo="bar"}',
  '{ foo = "bar" }',
  '{ namespace="buzz", foo != "bar" }',
  '{ namespace="buzz", foo !~ "bar" }',
  '{ foo =~ "bar" }',
  '{ foo = "bar", }',
  '{foo="bar"} |= "baz"',
  '{foo="bar"} |= "baz" |~ "blip" != "flip" !~ "flap"',
  '{foo="bar"} |= "a" or "b" or "c"',
  '{foo="bar"} != "a" or "b" |= "c"',
  "count_over_time({foo=~`bar\\w+`}[12h] |~ `error\\`)",
  'count_over_time({foo="bar"}[12h] |= "error")',
  'count_over_time({foo="bar"} |= "error" [12h])',
  'count_over_time({ foo = "bar" }[12m])',
  'bytes_over_time({ foo = "bar" }[12m])',
  'bytes_rate({ foo = "bar" }[12m])',
  'rate({ foo = "bar" }[5h])',
  'rate({ foo = "bar" }[5d])',
  'count_over_time({ foo = "bar" }[1w])',
  'absent_over_time({ foo = "bar" }[1w])',
  'sum(rate({ foo ="bar" }[1y]))',
  'avg(count_over_time({ foo = "bar" }[5h])) by (bar,foo)',
  'avg(count_over_time({ foo = "bar" }[5h])) by ()',
  'max without (bar) (count_over_time({ foo = "bar" }[5h]))',
  'max without () (count_over_time({ foo = "bar" }[5h]))',
  'topk(10,count_over_time({ foo = "bar" }[5h])) without (bar)',
  'bottomk(30 ,sum(rate({ foo = "bar" }[5h])) by (foo))',
  'max( sum(count_over_time({ foo = "bar" }[5h])) without (foo,bar) ) by (foo)',
  '{ foo = "bar" }|logfmt --strict',
  '{ foo = "bar" }|logfmt|rate="a"',
  '{ foo = "bar" }|logfmt|length>5d',
  '{ foo = "bar" }|logfmt --strict --keep-empty|length>5d',
  '{ foo = "bar" } | logfmt | msg =~ "`.`" ',
  '{ foo = "bar" }|logfmt|ip="2.3.4.5"|ip="abc"',
  '{app="foo"} |= "bar" | json | latency >= 250ms or ( status_code < 500 and status_code > 200)',
  '{app="foo"} |= "bar" | json | (duration > 1s or status!= 200) and method!="POST"',
  '{app="foo"} |= "bar" | json | ( status_code < 500 and status_code > 200) or latency >= 250ms',
  '{app="foo"} |= "bar" | json | latency >= 250ms , status_code < 500 , method=~"a|b"',
  '{app="foo"} | json | size > 20KB or size = 1MiB',
  '{app="foo"} | json bob="top.sum", arr="a.b[0]", key="[\\"x y\\"].z", own',
  '{app="foo"} | logfmt lvl="level", msg',
  '{app="foo"} | line_format "blip{{ .foo }}blop {{.status_code | ToUpper}}"',
  '{app="foo"} | label_format foo=bar,bar="blip{{.foo}}blop"',
  '{app="foo"} | drop level, method="GET" | keep a, b=~"c.*"',
  '{foo!=""}',
  '{foo!~".*"}',
  'sum_over_time({namespace="tns"} |= "level=error" | json |foo>=5,bar<25ms| unwrap latency [5m])',
  'quantile_over_time(0.99998,{namespace="tns"} |= "level=error" | json | unwrap bytes(size) | __error__="" [5m]) by (namespace)',
  'avg_over_time({app="foo"} | json | unwrap duration(took) [1m] offset 5m)',
  'rate({app="foo"} | logfmt | unwrap foo [5m])',
  'last_over_time(({app="foo"} | json | unwrap x)[5m])',
  'sum by (a) (count_over_time({app="foo"}[1m] offset 1h)) * 100 / 3',
  "100 * -1.5e3 ^ 2 ^ 3",
  'count_over_time({app="foo"}[1m]) > bool 3',
  "vector(1)+vector(1)",
  "1 + 1",
  '# a comment\n{app="foo"} # another',
  'first_over_time({app="foo"} | unwrap x [1h30m])',
  '{app="foo"} | json | a="b" c="d"',
  'sum(rate({foo="bar"} |= "x" [5m])) by (a) / sum(rate({foo="bar"}[5m])) by (a) * 100',
  'count_over_time({foo="bar"}[12m]) or count_over_time({foo="bar"}[12m]) > 1 and vector(1) unless vector(2)',
  '{app="foo"} |~ "\\\\w+" | line_format `{{ trunc 5 .x }}{{ default "-" .y }}`',
];

/** Queries that Loki refuses, too, with a part of the message. */
const REFUSED: [query: string, message: string][] = [
  ["", "unexpected end"],
  ["{}", "queries require at least one"],
  ['{foo=""}', "queries require at least one"],
  ['{foo!="bar"}', "queries require at least one"],
  ['{foo=~".*"}', "queries require at least one"],
  ['{foo!="a", b!~"c"}', "queries require at least one"],
  ['unk({ foo = "bar" }[5m])', "unexpected unk"],
  ['absent_over_time({ foo = "bar" }[5h]) by (foo)', "grouping not allowed for absent_over_time"],
  ['rate({ foo = "bar" }[5minutes])', "not a valid duration"],
  ['rate({ foo = "bar" }[5)', "missing closing ']'"],
  ['min({ foo = "bar" }[5m])', "unexpected {"],
  ['sum(3 ,count_over_time({ foo = "bar" }[5h]))', "unsupported parameter for operation sum"],
  ['topk(count_over_time({ foo = "bar" }[5h]))', "parameter required for operation topk"],
  ['bottomk(he,count_over_time({ foo = "bar" }[5h]))', "parameter required for operation bottomk"],
  ['bottomk(1.2,count_over_time({ foo = "bar" }[5h]))', "invalid parameter"],
  ['{foo="bar"} |= "baz', "not terminated"],
  ['{foo="bar"} "foo"', "unexpected string"],
  ['{foo="bar"', "unexpected end"],
  ["{foo=bar}", "unexpected bar"],
  ['rate({ foo = "bar" })', "a range such as"],
  ['{foo="bar"}[5m]', "unexpected range"],
  ['sum_over_time({foo="bar"}[5m])', "without unwrap"],
  ['count_over_time({foo="bar"} | unwrap x [5m])', "with unwrap"],
  ['quantile_over_time({foo="bar"} | unwrap x [5m])', "parameter required"],
  ['{foo="bar"} | label_format a=b, a=c', "multiple label name 'a'"],
  ['{foo="bar"} | json a="b[", c', "cannot parse expression"],
  ['{foo="bar"} | logfmt --odd', "unknown flag"],
  ['{foo="bar"} | line_format "{{ .a"', "unclosed action"],
  ['{foo="bar"} | unwrap x', "unwrap needs a range"],
  ['rate({foo="bar"}[5m]) or 1', "unexpected literal"],
  ["1 and vector(1)", "unexpected literal"],
  ["1 + bool 2", "bool can only be used with comparison operators"],
];

/** Parts of LogQL that exist and are not supported: the error names them. */
const UNSUPPORTED: [query: string, named: string][] = [
  ['{foo="bar"} | regexp "(?P<a>.)"', "| regexp"],
  ['{foo="bar"} | pattern "<a> <b>"', "| pattern"],
  ['{foo="bar"} | unpack', "| unpack"],
  ['{foo="bar"} | decolorize', "| decolorize"],
  ['{foo="bar"} |> "<_> x"', "|>"],
  ['{foo="bar"} |= ip("1.2.3.4")', "ip()"],
  ['{foo="bar"} | addr=ip("1.2.3.4")', "ip()"],
  ['{foo="bar"} | line_format "{{ if .a }}b{{ end }}"', "if"],
  ['{foo="bar"} | line_format "{{ printf `%s` .a }}"', "printf"],
  ['label_replace(rate({foo="bar"}[5m]),"a","$1","b","c")', "label_replace"],
  ['stddev_over_time({foo="bar"} | unwrap x [5m])', "stddev_over_time"],
  ['rate_counter({foo="bar"} | unwrap x [5m])', "rate_counter"],
  ['sort(rate({foo="bar"}[5m]))', "sort"],
  ['rate({foo="bar"}[5m]) / on(a) rate({foo="bar"}[5m])', "the modifier on"],
  ['rate({foo="bar"}[5m:1m])', "subqueries"],
  ['{foo="bar"} |= "baz" != ip("1.2.3.4") |= "x"', "ip()"],
  ['{foo="bar"} | logfmt | level="x" | addr!=ip("1.2.3.4/24")', "ip()"],
  ['{foo="bar"} |> "<_>" or "b"', "|>"],
  ['bytes_over_time(({foo="bar"} |= "baz" | unpack)[5m])', "| unpack"],
  ['stdvar_over_time({foo="bar"} | json | unwrap duration(x) [5m])', "stdvar_over_time"],
  ['sum by (a) (rate({foo="bar"}[1m])) > bool on () group_right (a) vector(1)', "the modifier on"],
];

function errorOf(query: string): string {
  try {
    parseLogql(query);
  } catch (error) {
    if (error instanceof LogqlError) return error.message;
    throw error;
  }
  throw new Error(`${query} was accepted.`);
}

describe("the parser of LogQL", () => {
  test.for(ACCEPTED)("accepts %s, and its printed form means the same", (query) => {
    const parsed = parseLogql(query);
    const printed = printLogql(parsed);
    expect(printLogql(parseLogql(printed))).toBe(printed);
  });

  test.for(REFUSED)("refuses %s", ([query, message]) => {
    expect(errorOf(query)).toContain(message);
    expect(errorOf(query)).toMatch(/^parse error at line \d+, col \d+: /);
  });

  test.for(UNSUPPORTED)("names what it does not support in %s", ([query, named]) => {
    expect(errorOf(query)).toContain(named);
    expect(errorOf(query)).toMatch(/(is|are) not supported$/);
  });

  test("names the line and the column", () => {
    expect(errorOf('{a="b"}\n  | pattern "<x>"')).toMatch(/^parse error at line 2, col 5: /);
  });

  test("commas bind the least to their right, `and` binds closer than `or`", () => {
    const printed = (query: string) => printLogql(parseLogql(query));
    expect(printed('{a="b"} | x="1" or y="2" and z="3"')).toBe('{a="b"} | (x="1" or (y="2" and z="3"))');
    expect(printed('{a="b"} | x="1" , y="2" or z="3"')).toBe('{a="b"} | (x="1" and (y="2" or z="3"))');
  });

  test("`or` binds the least, then `and` and `unless`, then comparisons", () => {
    const printed = printLogql(parseLogql("vector(1) or vector(2) and vector(3) > 4 unless vector(5)"));
    expect(printed).toBe("(vector(1) or ((vector(2) and (vector(3) > 4)) unless vector(5)))");
  });

  test("a selector alone may be empty", () => {
    expect(parseMatchers("{}")).toEqual([]);
    expect(() => parseMatchers('{a="b"} |= "c"')).toThrow(LogqlError);
  });

  const pieces = [
    ...[
      '{a="b"}',
      "| json",
      "|=",
      '"x"',
      "(",
      ")",
      "[5m]",
      "sum",
      "by",
      "rate(",
      ",",
      "unwrap",
      "offset",
      "5m",
      "1",
      "-",
    ],
    ...[
      "or",
      "and",
      "|",
      "!=",
      "=~",
      "`",
      '"',
      "\\",
      "{{",
      "}}",
      "topk(3,",
      "[",
      "drop",
      "\n",
      "\u00e9",
      "\ud800",
      "^",
    ],
  ];
  test("throws nothing but its own error, whatever the text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...pieces)).map((all) => all.join(" ")),
    );
    fc.assert(
      fc.property(text, (query) => {
        try {
          printLogql(parseLogql(query));
        } catch (error) {
          expect(error).toBeInstanceOf(LogqlError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("refuses deep nesting and long texts instead of overflowing", () => {
    expect(errorOf(`${"(".repeat(5000)}{a="b"}`)).toContain("nested too deeply");
    expect(errorOf(`1${" ^ 1".repeat(3000)}`)).toContain("nested too deeply");
    expect(errorOf(`1${"+1".repeat(8000)}`)).toContain("too many operators");
    expect(errorOf(`{a="${"x".repeat(20_000)}"}`)).toContain("at most");
  });
});
