import { expect, test } from "vitest";
import { parseCommand } from "../../src/cli/args.ts";
import type { Command } from "../../src/cli/commands.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const ENV = { TAFFRAIL_API_KEY: "sk_secret", TAFFRAIL_PROJECT: "proj_1" };

function parse(line: string, env: Record<string, string | undefined> = ENV, isTerminal = false): Command {
  return parseCommand(line === "" ? [] : line.split(" "), { env, isTerminal, now: NOW });
}

test("reads the environment and the command line", () => {
  expect(parse("query")).toMatchObject({
    service: { url: "http://127.0.0.1:8787", key: "sk_secret" },
    project: "proj_1",
    limit: 100,
    order: "desc",
    from: null,
    to: null,
    json: false,
    colors: false,
    isKeyVisible: false,
  });
  expect(
    parse(
      "query --url https://x.example/base/ --key k2 --project p2 --json --all --since 1h30m --until now --order asc",
    ),
  ).toMatchObject({
    service: { url: "https://x.example/base", key: "k2" },
    project: "p2",
    json: true,
    isKeyVisible: true,
    limit: Number.POSITIVE_INFINITY,
    order: "asc",
    from: NOW - 5_400_000,
    to: NOW,
  });
});

test("reads filters", () => {
  expect(parse("tail --level error,warn --level FATAL --category a --category b --data ms>=5 --trace t")).toMatchObject(
    {
      filters: {
        levels: ["error", "warn", "fatal"],
        categories: ["a", "b"],
        types: [],
        trace: "t",
        data: [{ path: "ms", operator: "gte", value: 5 }],
      },
      start: { kind: "now" },
      limit: Number.POSITIVE_INFINITY,
    },
  );
  expect(parse("tail --since seq:0 --limit 5")).toMatchObject({ start: { kind: "seq", seq: 0 }, limit: 5 });
  expect(parse("tail --since 15m")).toMatchObject({ start: { kind: "time", ms: NOW - 900_000 } });
});

test("reads queries, of several words without quotes too", () => {
  expect(parse("search level:error --since 1h --max-rows 5 --csv --as-of 4f-2")).toMatchObject({
    name: "search",
    query: "level:error",
    from: NOW - 3_600_000,
    maxRows: 5,
    csv: true,
    asOf: "4f-2",
  });
  expect(parse("search level:error timeout --all")).toMatchObject({
    query: "level:error timeout",
    maxRows: Number.POSITIVE_INFINITY,
  });
  for (const name of ["tail", "query", "stats"]) {
    expect(parse(`${name} status:500..599 -route:/health`)).toMatchObject({
      filters: { q: "status:500..599 -route:/health" },
    });
    expect(parse(name)).toMatchObject({ filters: { q: null } });
  }
  expect(parse("completion zsh", {})).toEqual({ name: "completion", shell: "zsh" });
});

test("reads the options of send", () => {
  expect(parse("send a.log -")).toMatchObject({ files: ["a.log", "-"], text: false, message: null });
  expect(
    parse("send -m hi --level warn --category http --type request --data a.b=1 --data a.c=[1,2] --data __proto__.x=y"),
  ).toMatchObject({
    message: "hi",
    members: { level: "warn", category: "http", type: "request" },
  });
  const { members } = Object(parse("send --text --data a.b=1 --data a.c=[1,2] --data __proto__.x=y --session s"));
  expect(JSON.stringify(members)).toBe('{"session":"s","data":{"a":{"b":1,"c":[1,2]},"__proto__":{"x":"y"}}}');
});

test("chooses an interval by the time range", () => {
  expect(parse("stats")).toMatchObject({ from: NOW - 3_600_000, to: null, interval: "1m" });
  expect(parse("stats --since 8h")).toMatchObject({ interval: "5m" });
  expect(parse("stats --since 2d")).toMatchObject({ interval: "1h" });
  expect(parse("stats --since all")).toMatchObject({ from: null, interval: "1d" });
  expect(parse("stats --since 2d --interval 5m --by level")).toMatchObject({ interval: "5m", by: "level" });
});

test("asks for a table with --agg", () => {
  const args = ["stats", "--agg", "count", "--agg", "p99(a.b) as slow", "--by", "route,x", "--bin", "5m"];
  const command = parseCommand([...args, "--sort", "slow", "--limit", "3"], { env: ENV, isTerminal: false, now: NOW });
  expect(command).toMatchObject({
    from: NOW - 3_600_000,
    table: {
      aggregations: [{ fn: "count" }, { fn: "p99", field: "a.b", as: "slow" }],
      groupBy: ["route", "x", { bin: "5m" }],
      sort: { by: "slow", order: "desc" },
      limit: 3,
    },
  });
  expect(parse("stats --by level")).toMatchObject({ table: null });
});

test("uses colours on a terminal, unless an option or variable disables them", () => {
  expect(parse("query", ENV, true)).toMatchObject({ colors: true });
  expect(parse("query --no-color", ENV, true)).toMatchObject({ colors: false });
  expect(parse("query", { ...ENV, NO_COLOR: "1" }, true)).toMatchObject({ colors: false });
  expect(parse("query --color", { ...ENV, NO_COLOR: "1" })).toMatchObject({ colors: true });
});

test("returns the help of each command", () => {
  for (const line of ["", "--help", "-h", "help", "help nonsense"])
    expect(parse(line)).toEqual({ name: "help", of: "" });
  for (const line of ["tail --help", "tail -h", "help tail"])
    expect(parse(line, {})).toEqual({ name: "help", of: "tail" });
  expect(parse("--version", {})).toEqual({ name: "version" });
});

test.each([
  ["tale", "Unknown command tale"],
  ["--json query", "The command must come first"],
  ["query --limti 5", "Unknown option --limti. See taffrail query --help."],
  ["query --limti=5", "Unknown option --limti. See"],
  ["query -x", "Unknown option -x."],
  ["query --limit", "argument missing"],
  ["query --json=yes", "does not take an argument"],
  ["export extra", "not extra"],
  ["search", "A query is missing"],
  ["search x --json --csv", "--json and --csv exclude each other"],
  ["search x --all --max-rows 5", "exclude each other"],
  ["search x --max-rows 0", "--max-rows 0: must be a number"],
  ["search x --level error", "Unknown option --level. See taffrail search --help."],
  ["completion ksh", "which shell?"],
  ["query --limit 0", "--limit 0: must be a number"],
  ["query --limit 5 --all", "exclude each other"],
  ["query --order up", "--order up"],
  ["query --since 5y", "--since 5y"],
  ["query --since seq:5", "--since seq:5"],
  ["query --since 0", "1795183200000"],
  ["query --since 1h --until 2h", "--until 2h is not after --since 1h"],
  ["stats --since 1h --until 1h", "--until 1h is not after --since 1h"],
  ["tail --since seq:-1", "--since seq:-1: must be like seq:1234"],
  ["query --until 2026-02-30", "--until 2026-02-30"],
  ["query --level loud", "--level loud: unknown level"],
  ["query --min-level loud", "--min-level loud"],
  ["query --data a..b=1", "--data a..b=1"],
  ["query --data a>=true", "only numbers and strings"],
  ["query --data !a=1", "takes no value"],
  ["query --url ftp://x", "--url must be like"],
  ["query --url nonsense", "--url must be like"],
  ["tail --until 5m", "Unknown option --until"],
  ["stats --by hour", "--by hour"],
  ["stats --interval 2m", "--interval 2m"],
  ["stats --bin 5m", "--bin needs --agg"],
  ["stats --agg count --interval 5m", "exclude each other"],
  ["stats --agg 9(x)", "--agg 9(x): must be like"],
  ["stats --agg count --order asc", "--order needs --sort"],
  ["send --level error", "--level applies only to entries created by"],
  ["send -m hi file", "sends one entry"],
  ["send -m hi --data a", "must be path=value"],
  ["send -m hi --data a=1 --data a.b=2", "a is a value"],
  ["send -m hi --level a --level b", "--level can be given once"],
  ["send --retry-for soon", "--retry-for soon"],
])("names what is wrong: %s", (line, said) => {
  expect(() => parse(line)).toThrow(said);
});

test("requires a key, and a project for tail and send", () => {
  expect(() => parse("query", {})).toThrow("A key is needed");
  expect(() => parse("tail", { TAFFRAIL_API_KEY: "k" })).toThrow("A project is needed");
  expect(parse("query", { TAFFRAIL_API_KEY: " k\n" })).toMatchObject({ service: { key: "k" }, project: null });
});

test("7: the key is TAFFRAIL_API_KEY; its former name TAFFRAIL_KEY still works", () => {
  expect(parse("query", { TAFFRAIL_API_KEY: "new", TAFFRAIL_KEY: "old" })).toMatchObject({ service: { key: "new" } });
  expect(parse("query", { TAFFRAIL_API_KEY: " ", TAFFRAIL_KEY: "old" })).toMatchObject({ service: { key: "old" } });
  expect(parse("query", { TAFFRAIL_KEY: "old" })).toMatchObject({ service: { key: "old" } });
  expect(() => parse("query", {})).toThrow("set TAFFRAIL_API_KEY");
});

test("repeats no key and no password in messages", () => {
  for (const line of ["query --url http://user:hush@x", "query --key hush\u00e9"]) {
    expect(() => parse(line)).toThrow(/^(?!.*hush)/s);
  }
});

test("18.5: reads the options of ledger, which needs an access token and a project", () => {
  const env = { TAFFRAIL_ACCESS_TOKEN: "eyJ.a.b", TAFFRAIL_WORKSPACE: "ws_1", TAFFRAIL_API_KEY: "sk_secret" };
  expect(parse("ledger --project proj_1", env)).toEqual({
    name: "ledger",
    service: { url: "http://127.0.0.1:8787", key: "eyJ.a.b" },
    workspace: "ws_1",
    project: "proj_1",
    from: null,
    to: null,
    limit: 100,
    json: false,
    colors: false,
    isKeyVisible: false,
  });
  expect(parse("ledger --since 2d --until 1d --all", { ...env, TAFFRAIL_PROJECT: "proj_2" })).toMatchObject({
    project: "proj_2",
    from: NOW - 2 * 86_400_000,
    to: NOW - 86_400_000,
    limit: Number.POSITIVE_INFINITY,
  });
  expect(() => parse("ledger", env)).toThrow("A project is needed");
  expect(() => parse("ledger --token sk_secret", env)).toThrow("An API key cannot read the ledger");
});

test("B17: reads the options of audit, which needs an access token", () => {
  const env = { TAFFRAIL_ACCESS_TOKEN: "eyJ.a.b", TAFFRAIL_WORKSPACE: "ws_1", TAFFRAIL_API_KEY: "sk_secret" };
  expect(parse("audit", env)).toEqual({
    name: "audit",
    service: { url: "http://127.0.0.1:8787", key: "eyJ.a.b" },
    workspace: "ws_1",
    filters: {},
    from: null,
    limit: 100,
    json: false,
    colors: false,
    isKeyVisible: false,
  });
  expect(
    parse("audit --token t --workspace ws_2 --actor usr_1 --action key --target key_1 --since 1d --all --json", env),
  ).toMatchObject({
    service: { key: "t" },
    workspace: "ws_2",
    filters: { actor: "usr_1", action: "key", target: "key_1" },
    from: NOW - 86_400_000,
    limit: Number.POSITIVE_INFINITY,
    json: true,
    isKeyVisible: true,
  });
  expect(() => parse("audit", { TAFFRAIL_API_KEY: "sk_secret" })).toThrow("set TAFFRAIL_ACCESS_TOKEN");
  expect(() => parse("audit --token sk_secret", env)).toThrow("An API key cannot read the audit");
  expect(() => parse("audit --token t", {})).toThrow("A workspace is needed");
  expect(() => parse("audit --search x", env)).toThrow("Unknown option --search");
});
