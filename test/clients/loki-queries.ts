import type { Random } from "../faults/random.ts";

/** Random entries, and random queries of LogQL that both servers support. */

export interface PushedStream {
  stream: Record<string, string>;
  values: [time: string, line: string, metadata: Record<string, string>][];
}

const SERVICES = ["api", "web", "worker"] as const;
const LEVELS = ["info", "info", "warn", "error", "debug"] as const;
const HOSTS = ["h1", "h2"] as const;
const PATHS = ["/", "/cart", "/orders/7", "/orders/8"] as const;

/** Returns streams with entries of which no two have one time, so that each answer has one order. */
export function streamsOf(random: Random, count: number, begin: number, stepMs: number): PushedStream[] {
  const streams = new Map<string, PushedStream>();
  for (let at = 0; at < count; at++) {
    const stream = {
      service: random.pick(SERVICES),
      level: random.pick(LEVELS),
      host: random.pick(HOSTS),
      job: "compare",
    };
    const key = JSON.stringify(stream);
    const own: PushedStream = streams.get(key) ?? { stream, values: [] };
    streams.set(key, own);
    own.values.push([`${begin + at * stepMs}000000`, lineOf(random, at), { trace_id: `t${at % 50}` }]);
  }
  return [...streams.values()];
}

function lineOf(random: Random, at: number): string {
  const [status, path, ms] = [random.pick([200, 200, 404, 500, 503]), random.pick(PATHS), random.int(1, 900)];
  const size = random.pick(["512B", "1.5KB", "20KiB", "3MB"]);
  switch (random.int(0, 3)) {
    case 0:
      return JSON.stringify({
        message: `GET ${path} ${status}`,
        ...{ status, took: `${ms}ms`, size, ms },
        nested: { plan: random.pick(["free", "pro"]), n: at % 7, list: [1, 2] },
        ok: status < 400,
      });
    case 1:
      return `status=${status} path=${path} took=${ms}ms size=${size} ms=${ms} msg="order ${at % 11} is done" ok=${status < 400} empty=`;
    case 2:
      return `job ${at % 13}: Timeout after ${ms} ms, attempt ${at % 3}`;
    default:
      return random.pick([
        "connection refused",
        "Connection RESET by peer",
        `user u-${at % 17} said "hello"\tand left`,
        "gr\u00f6\u00dfe \u00fcber 5 \ud83d\ude00",
      ]);
  }
}

const MATCHERS = [
  ...[
    'level="error"',
    'level!="debug"',
    'service=~"api|web"',
    'service!~"w.*"',
    'host="h1"',
    'level=~"(info|warn)"',
    'missing=""',
    'missing!="x"',
  ],
];
const LINE_FILTERS = [
  ...[
    '|= "order"',
    '|= "Timeout"',
    '!= "refused"',
    "|~ `took=[0-9]{3}ms`",
    "!~ `u-1[0-9]?`",
    '|~ "(?i)reset"',
    '|= "refused" or "order"',
    '|= `"status":500`',
  ],
  ...["|= `gr\u00f6\u00dfe`", '!= "GET" != "job"', '|~ "job|done"', "|= ``"],
];
/** Parsers with tests of labels that they extract. */
const JSON_TESTS = [
  "status >= 500",
  'status="404"',
  "ms < 100",
  "took > 200ms",
  "size >= 1KB",
  'nested_plan="pro"',
  "nested_n > 3 or status = 200",
  'ok="false"',
  "status != 200 and took <= 1s",
  'missing=""',
];
const LOGFMT_TESTS = [
  "status >= 500",
  'path="/cart"',
  "ms < 100",
  "took > 200ms",
  'msg=~"order [1-3].*"',
  'empty=""',
  "size < 1MB",
  'ok="true"',
  "(status = 404 or status = 503), ms > 50",
];
const FORMATS = [
  ...[
    "| line_format `{{.service}}: {{.status}} {{.took | ToUpper}}`",
    "| label_format code=status",
    "| label_format where=`{{.service}}-{{.host}}`",
  ],
  ...[
    "| drop ms, took, __error__, __error_details__",
    "| keep status, level, service",
    "| line_format `{{ __line__ | trunc 20 }}`",
    '| drop level="info"',
  ],
];
const GROUPINGS = ["", " by (level)", " by (service, host)", " without (trace_id, host)", " by ()"];

function selector(random: Random): string {
  return `{${['job="compare"', ...random.sample(MATCHERS, random.int(0, 2))].join(", ")}}`;
}

/** @returns a pipeline, and whether labels of lines are read in it */
function pipeline(random: Random, withFormats: boolean): string {
  const parts: string[] = random.sample(LINE_FILTERS, random.int(0, 2));
  const kind = random.int(0, 4);
  if (kind === 1) parts.push("| json", ...random.sample(JSON_TESTS, random.int(0, 2)).map((test) => `| ${test}`));
  if (kind === 2) parts.push("| logfmt", ...random.sample(LOGFMT_TESTS, random.int(0, 2)).map((test) => `| ${test}`));
  if (kind === 3) parts.push('| json code="status", first="nested.list[0]", plan="nested.plan"');
  if (kind === 4) parts.push('| logfmt code="status", msg', '| trace_id=~"t1.?"');
  if (withFormats && kind > 0 && random.oneIn(2)) parts.push(random.pick(FORMATS));
  return parts.join(" ");
}

export function logQuery(random: Random): string {
  return `${selector(random)} ${pipeline(random, true)}`.trim();
}

export function metricQuery(random: Random): string {
  const range = random.pick(["1m", "90s", "5m", "10m"]);
  const offset = random.oneIn(5) ? " offset 2m" : "";
  const source = `${selector(random)} ${random.sample(LINE_FILTERS, random.int(0, 1)).join(" ")}`.trim();
  const inner = random.oneIn(2) ? counted(random, source, range, offset) : unwrapped(random, source, range, offset);
  const outer = random.pick(["sum", "avg", "min", "max", "count"]);
  const grouped = random.oneIn(4) ? inner : `${outer}${random.pick(GROUPINGS)} (${inner})`;
  const top = random.oneIn(6) ? `${random.pick(["topk", "bottomk"])}(2, ${grouped})` : grouped;
  return random.oneIn(4)
    ? `${top} ${random.pick(["* 2", "/ 3", "> 1", ">= bool 2", "% 4", "^ 2", "- 1", "!= 0"])}`
    : top;
}

function counted(random: Random, source: string, range: string, offset: string): string {
  const fn = random.pick(["rate", "count_over_time", "bytes_rate", "bytes_over_time", "absent_over_time"]);
  const stages = random.pick([
    "",
    ' | logfmt | __error__=""',
    " | json | __error__=`` | status >= 400",
    " | drop trace_id",
  ]);
  return `${fn}(${source}${stages} [${range}]${offset})`;
}

function unwrapped(random: Random, source: string, range: string, offset: string): string {
  const parser = random.pick(["json", "logfmt"]);
  const value = random.pick(["ms", "duration(took)", "bytes(size)"]);
  const fn = random.pick([
    "sum_over_time",
    "avg_over_time",
    "min_over_time",
    "max_over_time",
    "first_over_time",
    "last_over_time",
    "quantile_over_time",
    "rate",
  ]);
  const parameter = fn === "quantile_over_time" ? `${random.pick(["0.5", "0.99", "0"])}, ` : "";
  const grouping = ["sum_over_time", "rate"].includes(fn) ? "" : random.pick([" by (level)", " by (service)", ""]);
  return `${fn}(${parameter}${source} | ${parser} | __error__="" | keep ${value.replace(/^\w+\(|\)$/g, "")}, level, service, host | unwrap ${value} [${range}]${offset})${grouping}`;
}
