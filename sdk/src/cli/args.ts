import { memberOf, projectOf, sharedOf } from "./access.ts";
import { alertsOf } from "./alerts/command.ts";
import type {
  AuditCommand,
  Command,
  CommandEnvironment,
  ExportCommand,
  LedgerCommand,
  SearchOptions,
  SendCommand,
  Start,
  StatsCommand,
} from "./commands.ts";
import { SHELLS, type Shell } from "./completion.ts";
import { type DataTest, parseDataTest } from "./data-test.ts";
import { membersOf } from "./entry-members.ts";
import { usage } from "./failure.ts";
import { type Filters, levelOf } from "./filters.ts";
import { COMMANDS, MEMBERS, parsed } from "./options.ts";
import { tableOf } from "./table-request.ts";
import { parseDuration, parseTime } from "./time.ts";
import { countOf, list, text, type Values } from "./values.ts";

const DEFAULT_LIMIT = 100;
/** Commands whose words are a query. */
const QUERYING: readonly string[] = ["tail", "query", "search", "stats"];
const DEFAULT_RETRY_MS = 300_000;
const INTERVALS: Readonly<Record<string, number>> = { "1m": 60_000, "5m": 300_000, "1h": 3_600_000, "1d": 86_400_000 };
/** Maximal number of buckets of a chart without `--interval`. */
const GOOD_BUCKETS = 120;
const DEFAULT_STATS_MS = 3_600_000;
const AUDIT_FILTERS = ["actor", "action", "target"] as const;
const GROUPS: readonly string[] = ["level", "category", "type", "service", "host"];

/** Parses a command line. @throws Failure if it is invalid */
export function parseCommand(argv: readonly string[], environment: CommandEnvironment): Command {
  const [name = "", ...rest] = argv;
  if (name === "" || name === "--help" || name === "-h") return { name: "help", of: "" };
  if (name === "help") return { name: "help", of: Object.hasOwn(COMMANDS, rest[0] ?? "") ? (rest[0] ?? "") : "" };
  if (name === "--version") return { name: "version" };
  if (name === "completion") return { name, shell: shellOf(rest[0]) };
  if (name === "complete") return { name, shell: shellOf(rest[0]), line: rest[1] ?? "", env: environment.env };
  const options = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!options) {
    const what = name.startsWith("-") ? "The command must come first" : `Unknown command ${name}`;
    throw usage(
      `${what}: search, tail, query, stats, send, export, alerts, ledger, audit or mcp. See taffrail --help.`,
    );
  }
  const { values, positionals } = parsed(name, QUERYING.includes(name) ? rest.map(marked) : rest, options);
  if (values.help) return { name: "help", of: name };
  if (values.version) return { name: "version" };
  if (name === "alerts") return alertsOf(values, positionals, environment);
  if (name !== "send" && !QUERYING.includes(name) && positionals.length > 0) {
    throw usage(`taffrail ${name} accepts only options, not ${positionals[0]}. See taffrail ${name} --help.`);
  }
  const q = positionals.map(unmarked).join(" ").trim() || null;
  if (name === "audit") return auditOf(values, environment);
  if (name === "ledger") return ledgerOf(values, environment);
  const shared = sharedOf(values, environment);
  const { now } = environment;
  switch (name) {
    case "search":
      return { name, ...shared, ...searchOf(values, q, now) };
    case "mcp":
      return { name, ...shared };
    case "tail":
      return {
        name,
        ...shared,
        project: projectOf(shared),
        filters: filtersOf(values, q),
        start: startOf(values, now),
        limit: countOf("--limit", text(values, "limit")) ?? Number.POSITIVE_INFINITY,
      };
    case "query":
      return { name, ...shared, filters: filtersOf(values, q), ...timesOf(values, now), ...pagesOf(values) };
    case "stats":
      return { name, ...shared, filters: filtersOf(values, q), ...statsOf(values, now) };
    case "export":
      return { name, ...shared, project: projectOf(shared), ...exportOf(values, now) };
    default:
      return { name: "send", ...shared, project: projectOf(shared), ...sendingOf(values, positionals) };
  }
}

/** Begins a word of a query that would be an option. */
const NO_OPTION = "\0";

/** Marks a word that negates a test, as `-category:cache` does. */
function marked(word: string): string {
  return /^-[^-]./.test(word) ? NO_OPTION + word : word;
}

function unmarked(word: string): string {
  return word.startsWith(NO_OPTION) ? word.slice(1) : word;
}

function ledgerOf(values: Values, environment: CommandEnvironment): LedgerCommand {
  const { env, now } = environment;
  const member = memberOf(values, environment, "An API key cannot read the ledger. Use the access token of a member.");
  const project = projectOf({ project: text(values, "project") || env.TAFFRAIL_PROJECT || null });
  return { name: "ledger", ...member, project, ...timesOf(values, now), limit: pagesOf(values).limit };
}

function auditOf(values: Values, environment: CommandEnvironment): AuditCommand {
  const refusal = "An API key cannot read the audit. Use the access token of an admin or owner.";
  const member = memberOf(values, environment, refusal);
  const filters = AUDIT_FILTERS.flatMap((name) => {
    const value = text(values, name);
    return value === null ? [] : [[name, value] as const];
  });
  const { limit } = pagesOf(values);
  const { from } = timesOf(values, environment.now);
  return { name: "audit", ...member, filters: Object.fromEntries(filters), from, limit };
}

function shellOf(given = ""): Shell {
  const shell = SHELLS.find((each) => each === given);
  if (shell === undefined) throw usage(`taffrail completion ${SHELLS.join("|")}: which shell?`);
  return shell;
}

/** Bounds of `max_tokens` of the service's tools. */
const MAX_TOKENS = { min: 500, max: 20_000 } as const;

function searchOf(values: Values, query: string | null, now: number): SearchOptions {
  if (query === null) throw usage("A query is missing: taffrail search 'level:error | top 10 by route'.");
  if (values.json && values.csv) throw usage("--json and --csv exclude each other.");
  const maxRows = countOf("--max-rows", text(values, "max-rows"));
  if (maxRows !== null && values.all) throw usage("--max-rows and --all exclude each other.");
  const maxTokens = countOf("--max-tokens", text(values, "max-tokens"));
  if (maxTokens !== null && (maxTokens < MAX_TOKENS.min || maxTokens > MAX_TOKENS.max)) {
    throw usage(`--max-tokens ${maxTokens}: must be a number from ${MAX_TOKENS.min} to ${MAX_TOKENS.max}.`);
  }
  if (maxTokens !== null && (values.csv || values.all || maxRows !== null)) {
    throw usage("--max-tokens excludes --csv, --all and --max-rows.");
  }
  const next = text(values, "next");
  if (next !== null && maxTokens === null) throw usage("--next requires --max-tokens.");
  return {
    query,
    ...timesOf(values, now),
    csv: values.csv === true,
    maxRows: values.all ? Number.POSITIVE_INFINITY : maxRows,
    asOf: text(values, "as-of"),
    maxTokens,
    next,
  };
}

function filtersOf(values: Values, q: string | null): Filters {
  const minLevel = text(values, "min-level");
  return {
    levels: list(values, "level").flatMap((levels) => levels.split(",").map((level) => levelOf("--level", level))),
    minLevel: minLevel === null ? null : levelOf("--min-level", minLevel),
    categories: list(values, "category"),
    types: list(values, "type"),
    services: list(values, "service"),
    hosts: list(values, "host"),
    session: text(values, "session"),
    trace: text(values, "trace"),
    search: text(values, "search"),
    q,
    data: list(values, "data").map((test): DataTest => parseDataTest(test)),
  };
}

function startOf(values: Values, now: number): Start {
  const since = text(values, "since");
  if (since === null) return { kind: "now" };
  const [, seq] = /^seq:(\d{1,15})$/.exec(since) ?? [];
  if (seq !== undefined) return { kind: "seq", seq: Number(seq) };
  if (since.startsWith("seq:")) throw usage(`--since ${since}: must be like seq:1234.`);
  return { kind: "time", ms: timeOf("--since", since, now) };
}

function timesOf(values: Values, now: number): { from: number | null; to: number | null } {
  const [since, until] = [text(values, "since"), text(values, "until")];
  const from = since === null ? null : timeOf("--since", since, now);
  const to = until === null ? null : timeOf("--until", until, now);
  if (from !== null && to !== null && from >= to) throw usage(`--until ${until} is not after --since ${since}.`);
  return { from, to };
}

function timeOf(option: string, given: string, now: number): number {
  const ms = parseTime(given, now);
  if (ms === null) {
    throw usage(
      `${option} ${given}: must be like 15m, 2h, 1d, 2026-11-20, 2026-11-20T14:00, 2026-11-20T14:00Z or 1795183200000.`,
    );
  }
  return ms;
}

function pagesOf(values: Values): { limit: number; order: "desc" | "asc" } {
  const limit = countOf("--limit", text(values, "limit"));
  if (limit !== null && values.all) throw usage("--limit and --all exclude each other.");
  const order = text(values, "order") ?? "desc";
  if (order !== "desc" && order !== "asc") throw usage(`--order ${order}: must be desc or asc.`);
  return { limit: values.all ? Number.POSITIVE_INFINITY : (limit ?? DEFAULT_LIMIT), order };
}

function statsOf(values: Values, now: number): Pick<StatsCommand, "from" | "to" | "interval" | "by" | "table"> {
  const table = tableOf(values);
  // The keys of a table are any fields.
  return { ...bucketsOf(table === null ? values : { ...values, by: undefined }, now), table };
}

function bucketsOf(values: Values, now: number): Pick<StatsCommand, "from" | "to" | "interval" | "by"> {
  const isAll = text(values, "since") === "all";
  const { from, to } = timesOf(isAll ? { ...values, since: undefined } : values, now);
  const by = text(values, "by");
  if (by !== null && !GROUPS.includes(by)) throw usage(`--by ${by}: must be level, category, type, service or host.`);
  const first = isAll ? null : (from ?? (to ?? now) - DEFAULT_STATS_MS);
  const length = first === null ? Number.POSITIVE_INFINITY : (to ?? now) - first;
  const fitting = Object.keys(INTERVALS).find((name) => length / (INTERVALS[name] ?? 1) <= GOOD_BUCKETS) ?? "1d";
  const interval = text(values, "interval") ?? fitting;
  if (!Object.hasOwn(INTERVALS, interval)) {
    throw usage(`--interval ${interval}: must be one of ${Object.keys(INTERVALS).join(", ")}.`);
  }
  return { from: first, to, interval, by };
}

function sendingOf(
  values: Values,
  files: string[],
): Pick<SendCommand, "message" | "text" | "members" | "retryForMs" | "files"> {
  const message = text(values, "message");
  if (message === "") throw usage("-m: a message must not be empty.");
  if (message !== null && files.length > 0) throw usage("-m sends one entry and cannot be combined with files.");
  const asText = values.text === true;
  const own = Object.keys(MEMBERS).filter((name) => values[name] !== undefined);
  if (message === null && !asText && own.length > 0) {
    throw usage(`--${own[0]} applies only to entries created by --text or -m. JSON entries have their own members.`);
  }
  return { message, text: asText, members: membersOf(values), retryForMs: retryForOf(values), files };
}

function retryForOf(values: Values): number {
  const retryFor = text(values, "retry-for");
  const retryForMs = retryFor === null ? DEFAULT_RETRY_MS : parseDuration(retryFor);
  if (retryForMs === null) throw usage(`--retry-for ${retryFor}: must be like 30s, 5m or 1h.`);
  return retryForMs;
}

function exportOf(
  values: Values,
  now: number,
): Pick<ExportCommand, "from" | "to" | "format" | "out" | "afterSeq" | "retryForMs"> {
  const [since, until] = [text(values, "from") ?? text(values, "since"), text(values, "to") ?? text(values, "until")];
  const from = since === null ? null : timeOf("--from", since, now);
  const to = until === null ? null : timeOf("--to", until, now);
  if (from !== null && to !== null && from >= to) throw usage(`--to ${until} is not after --from ${since}.`);
  const given = text(values, "out") || "-";
  const out = given === "-" ? null : given;
  const format = text(values, "format") ?? (out?.endsWith(".parquet") ? "parquet" : "ndjson");
  if (format !== "ndjson" && format !== "parquet") throw usage(`--format ${format}: must be ndjson or parquet.`);
  if (format === "parquet" && out === null) throw usage("--format parquet needs --out FILE.");
  const afterSeq = text(values, "after-seq") ?? "0";
  if (!/^\d{1,15}$/.test(afterSeq)) throw usage(`--after-seq ${afterSeq}: must be a number from 0.`);
  return { from, to, format, out, afterSeq: Number(afterSeq), retryForMs: retryForOf(values) };
}
