import type { AlertsCommand } from "./alerts/command.ts";
import type { Service } from "./api.ts";
import type { Shell } from "./completion.ts";
import type { Filters } from "./filters.ts";
import type { TableRequest } from "./table-request.ts";

/** The commands of the terminal client, as parsed from the command line. */

/** What every command needs. */
export interface Shared {
  service: Service;
  project: string | null;
  json: boolean;
  colors: boolean;
  /** Whether the key or token was given on the command line. */
  isKeyVisible: boolean;
}

/** Where a tail begins: after a seq, at a time (epoch milliseconds), or now. */
export type Start = { kind: "seq"; seq: number } | { kind: "time"; ms: number } | { kind: "now" };

export interface TailCommand extends Shared {
  name: "tail";
  project: string;
  filters: Filters;
  start: Start;
  limit: number;
}

export interface QueryCommand extends Shared {
  name: "query";
  filters: Filters;
  from: number | null;
  to: number | null;
  limit: number;
  order: "desc" | "asc";
}

export interface SearchOptions {
  query: string;
  /** Epoch milliseconds. */
  from: number | null;
  to: number | null;
  csv: boolean;
  /** Maximum rows or entries to print; `null` if neither is asked for. */
  maxRows: number | null;
  /** The snapshot of an earlier answer. */
  asOf: string | null;
  /** Tokens of a compact answer; `null` for an answer in full. */
  maxTokens: number | null;
  /** What a compact answer before this one gave as `next`. */
  next: string | null;
}

export interface SearchCommand extends Shared, SearchOptions {
  name: "search";
}

/** Serves the MCP server of the service to a local agent. */
export interface McpCommand extends Shared {
  name: "mcp";
}

/** Prints the script that makes a shell complete command lines. */
export interface CompletionCommand {
  name: "completion";
  shell: Shell;
}

/** Prints the completions of a command line. Called by the script. */
export interface CompleteCommand {
  name: "complete";
  shell: Shell;
  /** The command line up to the cursor. */
  line: string;
  env: CommandEnvironment["env"];
}

export interface StatsCommand extends Shared {
  name: "stats";
  filters: Filters;
  from: number | null;
  to: number | null;
  interval: string;
  by: string | null;
  /** Aggregations that were asked for instead of counts by time; `null` if there are none. */
  table: TableRequest | null;
}

export interface SendCommand extends Shared {
  name: "send";
  project: string;
  /** Message of the single entry to send, or `null` to read files. */
  message: string | null;
  text: boolean;
  /** Members of every entry that is created from text. */
  members: Record<string, unknown>;
  retryForMs: number;
  /** Paths of the files; `-` is standard input. */
  files: readonly string[];
}

export interface ExportCommand extends Shared {
  name: "export";
  project: string;
  /** Epoch milliseconds. */
  from: number | null;
  to: number | null;
  format: "ndjson" | "parquet";
  /** Path of the file; `null` for standard output. */
  out: string | null;
  afterSeq: number;
  retryForMs: number;
}

export interface AuditCommand extends Omit<Shared, "project"> {
  name: "audit";
  workspace: string;
  /** Query parameters of the filters that were given. */
  filters: Readonly<Record<string, string>>;
  /** Epoch milliseconds; `null` for all stored items. */
  from: number | null;
  limit: number;
}

export interface LedgerCommand extends Omit<Shared, "project"> {
  name: "ledger";
  workspace: string;
  project: string;
  /** Epoch milliseconds; `null` for the default of the service. */
  from: number | null;
  to: number | null;
  limit: number;
}

export type Command =
  | { name: "help"; of: string }
  | { name: "version" }
  | TailCommand
  | QueryCommand
  | SearchCommand
  | CompletionCommand
  | CompleteCommand
  | StatsCommand
  | SendCommand
  | ExportCommand
  | AuditCommand
  | LedgerCommand
  | AlertsCommand
  | McpCommand;

export interface CommandEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  /** Whether standard output is a terminal. */
  isTerminal: boolean;
  /** Epoch milliseconds. */
  now: number;
}
