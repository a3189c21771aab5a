import { type ParseArgsConfig, parseArgs } from "node:util";
import { usage } from "./failure.ts";
import type { Values } from "./values.ts";

export type Options = NonNullable<ParseArgsConfig["options"]>;

const TEXT = { type: "string" } as const;
const LIST = { type: "string", multiple: true } as const;
const FLAG = { type: "boolean" } as const;

const OUTPUT: Options = {
  url: TEXT,
  json: FLAG,
  color: FLAG,
  "no-color": FLAG,
  help: { type: "boolean", short: "h" },
  version: FLAG,
};
const COMMON: Options = { ...OUTPUT, key: TEXT, project: TEXT };
/** Options for members of entries: filters of `query` and others, values for `send`. */
export const MEMBERS: Options = {
  level: LIST,
  category: LIST,
  type: LIST,
  service: LIST,
  host: LIST,
  session: TEXT,
  trace: TEXT,
  data: LIST,
};
const READING: Options = { ...COMMON, ...MEMBERS, "min-level": TEXT, search: TEXT, since: TEXT };

/** The options of each command. */
export const COMMANDS: Readonly<Record<string, Options>> = {
  tail: { ...READING, limit: TEXT },
  query: { ...READING, until: TEXT, limit: TEXT, all: FLAG, order: TEXT },
  search: {
    ...COMMON,
    since: TEXT,
    until: TEXT,
    "max-rows": TEXT,
    all: FLAG,
    csv: FLAG,
    "as-of": TEXT,
    "max-tokens": TEXT,
    next: TEXT,
  },
  mcp: COMMON,
  stats: {
    ...READING,
    until: TEXT,
    interval: TEXT,
    by: TEXT,
    agg: LIST,
    bin: TEXT,
    sort: TEXT,
    order: TEXT,
    limit: TEXT,
  },
  export: {
    ...COMMON,
    from: TEXT,
    to: TEXT,
    since: TEXT,
    until: TEXT,
    format: TEXT,
    out: TEXT,
    "after-seq": TEXT,
    "retry-for": TEXT,
  },
  audit: {
    ...OUTPUT,
    token: TEXT,
    workspace: TEXT,
    actor: TEXT,
    action: TEXT,
    target: TEXT,
    since: TEXT,
    limit: TEXT,
    all: FLAG,
  },
  alerts: {
    ...COMMON,
    token: TEXT,
    workspace: TEXT,
    file: { type: "string", short: "f" },
    "dry-run": FLAG,
    revision: TEXT,
    prune: FLAG,
    for: TEXT,
    from: TEXT,
    until: TEXT,
    limit: TEXT,
    all: FLAG,
  },
  ledger: {
    ...OUTPUT,
    token: TEXT,
    workspace: TEXT,
    project: TEXT,
    since: TEXT,
    until: TEXT,
    limit: TEXT,
    all: FLAG,
  },
  send: { ...COMMON, ...MEMBERS, text: FLAG, message: { type: "string", short: "m" }, "retry-for": TEXT },
};

/** Reads the options of a command. @throws Failure if one is unknown or has no value */
export function parsed(name: string, args: string[], options: Options): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error instanceof TypeError) || !("code" in error)) throw error;
    const [unknown] = /'-[^' ]*/.exec(error.message) ?? [];
    const isUnknown = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" && unknown;
    const what = isUnknown ? `Unknown option ${unknown.slice(1)}.` : `${error.message.split("\n")[0]}.`;
    throw usage(`${what.replace(/\.\.$/, ".")} See taffrail ${name} --help.`);
  }
}
