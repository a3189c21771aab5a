import { existsSync } from "node:fs";
import path from "node:path";
import type { FaultShares } from "./faulty-proxy.ts";

/**
 * The clients of `npm run test:clients`. A client is a program that logs `CLIENT_COUNT` records, one each `CLIENT_PACE_MS`
 * milliseconds, to `CLIENT_URL` with the key `CLIENT_KEY`. The messages are `<CLIENT_RUN>-<number>`, numbers from 0. It ends
 * when all were delivered or given up, and its last line of output is a `ClientReport` as JSON.
 */
export interface TestedClient {
  name: string;
  /** Packages with exact versions, installed into a directory of the client's own. */
  npm?: Readonly<Record<string, string>>;
  pip?: readonly string[];
  /** Packages of Debian, which are unpacked into `root` of that directory, with libraries that a system may lack. */
  debian?: readonly string[];
  /** Why the client cannot run on this machine; `null` if it can. */
  missing?: () => string | null;
  /** The program and its arguments. */
  command: (paths: ClientPaths) => readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Records to log; 1,000 by default. */
  count?: number;
  /** Faults that it meets in other shares than other clients. */
  faults?: Partial<FaultShares>;
  /** Whether the client sends a record twice in one request, which is stored twice: such a record may be two events. */
  isDoubling?: boolean;
  /** Settings of the client's API key. */
  keySettings?: Readonly<Record<string, unknown>>;
}

/** What a client says at its end. */
export interface ClientReport {
  /** Records that it gave up; `null` if it does not say. */
  gaveUp: number | null;
}

export interface ClientPaths {
  /** This directory, with the programs. */
  programs: string;
  /** Where the packages are. A copy of the program is in it, because ES modules find packages only from there. */
  installed: string;
  /** An empty directory for files of the client. */
  scratch: string;
}

/** Runs a program of this directory with Node. */
export function node(program: string, ...args: string[]): TestedClient["command"] {
  return ({ installed }) => [process.execPath, path.join(installed, program), ...args];
}

export function python(program: string, ...args: string[]): TestedClient["command"] {
  return ({ programs }) => ["python3", path.join(programs, program), ...args];
}

/** The path of a program of the machine, set by a variable. */
function binary(variable: string): { path: string; missing: () => string | null } {
  const found = process.env[variable] ?? "";
  return {
    path: found,
    missing: () => (existsSync(found) ? null : `set ${variable} to its executable`),
  };
}

const missingDebian = () => (existsSync("/usr/bin/apt-get") ? null : "it is a package of Debian");

const COLLECTOR = binary("OTELCOL");

const FLUENT_BIT = binary("FLUENT_BIT");
const RSYSLOG = binary("RSYSLOGD");
const GO = binary("GO");
const FLUENT_BIT_OUTPUTS = ["http", "loki", "es", "splunk", "datadog", "opentelemetry"] as const;

const OTEL_JS = { "@opentelemetry/api": "1.10.0", "@opentelemetry/sdk-logs": "3.1.0" } as const;

/** The bulk helper ends at a 429 of the whole request, which the service does not send it: it gets one for each item. */
const NO_429: Partial<FaultShares> = { limited: 0 };

export const CLIENTS: readonly TestedClient[] = [
  {
    name: "OTel JS, protobuf",
    npm: { ...OTEL_JS, "@opentelemetry/exporter-logs-otlp-proto": "0.301.0" },
    command: node("otel-js.mjs", "@opentelemetry/exporter-logs-otlp-proto"),
  },
  {
    name: "OTel JS, JSON",
    npm: { ...OTEL_JS, "@opentelemetry/exporter-logs-otlp-http": "0.301.0" },
    command: node("otel-js.mjs", "@opentelemetry/exporter-logs-otlp-http"),
  },
  {
    name: "OTel Python",
    pip: ["opentelemetry-sdk==1.45.0", "opentelemetry-exporter-otlp-proto-http==1.45.0"],
    command: python("otel_python.py"),
  },
  {
    name: "OTel Python, gzip",
    pip: ["opentelemetry-sdk==1.45.0", "opentelemetry-exporter-otlp-proto-http==1.45.0"],
    command: python("otel_python.py"),
    env: { OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: "gzip" },
  },
  {
    name: "pino-opentelemetry-transport",
    npm: { pino: "10.4.0", "pino-opentelemetry-transport": "4.0.2" },
    command: node("pino-otel.mjs"),
  },
  {
    name: "OpenTelemetry Collector",
    missing: COLLECTOR.missing,
    npm: { ...OTEL_JS, "@opentelemetry/exporter-logs-otlp-proto": "0.301.0" },
    command: node("otel-collector.mjs", COLLECTOR.path),
  },
  {
    name: "pino-loki",
    npm: { pino: "10.4.0", "pino-loki": "3.0.0" },
    command: node("pino-loki.mjs"),
  },
  {
    name: "winston-loki, JSON",
    npm: { winston: "3.19.0", "winston-loki": "6.1.7" },
    command: node("winston-loki.mjs", "json"),
    keySettings: { dedupe: "record" },
  },
  {
    name: "winston-loki, Snappy",
    npm: { winston: "3.19.0", "winston-loki": "6.1.7" },
    command: node("winston-loki.mjs", "snappy"),
    keySettings: { dedupe: "record" },
  },
  {
    name: "pino-elasticsearch",
    npm: { pino: "10.4.0", "pino-elasticsearch": "9.0.0" },
    command: node("pino-elasticsearch.mjs"),
    faults: NO_429,
  },
  {
    name: "winston-elasticsearch",
    npm: { winston: "3.19.0", "winston-elasticsearch": "0.19.0" },
    command: node("winston-elasticsearch.mjs"),
    keySettings: { dedupe: "record" },
  },
  {
    name: "@elastic/elasticsearch",
    npm: { "@elastic/elasticsearch": "9.4.3" },
    command: node("elasticsearch-bulk.mjs"),
    faults: NO_429,
  },
  {
    name: "@elastic/elasticsearch, other requests with the same ids",
    npm: { "@elastic/elasticsearch": "9.4.3" },
    command: node("elasticsearch-ids.mjs"),
  },
  ...FLUENT_BIT_OUTPUTS.map((output) => ({
    name: `Fluent Bit, ${output}`,
    missing: FLUENT_BIT.missing,
    command: node("fluent-bit.mjs", FLUENT_BIT.path, output),
  })),
  {
    name: "rsyslog omelasticsearch",
    missing: missingDebian,
    debian: ["rsyslog", "rsyslog-elasticsearch", "libestr0", "libfastjson4", "liblognorm5"],
    command: node("rsyslog.mjs", "omelasticsearch"),
    keySettings: { dedupe: "record" },
  },
  {
    name: "rsyslog omhttp",
    missing: RSYSLOG.missing,
    command: node("rsyslog.mjs", "omhttp", RSYSLOG.path),
    isDoubling: true,
    keySettings: { dedupe: "record" },
  },
  {
    name: "systemd-journal-upload",
    missing: missingDebian,
    debian: ["systemd-journal-remote", "libsystemd-shared", "libmicrohttpd12"],
    command: node("journal-upload.mjs"),
  },
  {
    name: "syslog-ng",
    missing: missingDebian,
    debian: ["syslog-ng-core", "syslog-ng-mod-http", "libpcre3", "libivykis0", "libnet1", "libjson-c5", "libwrap0"],
    command: node("syslog-ng.mjs"),
  },
  { name: "Sentry JS", npm: { "@sentry/node": "11.12.0" }, command: node("sentry.mjs") },
  { name: "Sentry JS, tunnel", npm: { "@sentry/node": "11.12.0" }, command: node("sentry.mjs", "tunnel") },
  { name: "Python logging", count: 300, command: python("python_logging.py") },
  { name: "Go slog", missing: GO.missing, command: node("go-slog.mjs", GO.path) },
];
