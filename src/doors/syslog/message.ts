import { define } from "../../logs/ingest/validate.ts";
import type { DoorEntry } from "../entry.ts";
import { freeName } from "../shared/fit-data.ts";
import { levelOfNumber } from "../shared/levels.ts";
import type { RecordReader } from "../shared/record-reader.ts";
import type { ReadTime } from "../shared/times.ts";
import { readIsoTime, readLocalTime, utc, type Zone } from "./times.ts";

/** Names of the severities 0 to 7. */
const SEVERITIES = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];
/** Names of the facilities 0 to 23. */
const FACILITIES = [
  ...["kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp"],
  ...["ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"],
];
const PRIORITY = /^<(\d{1,3})>/;
const MAX_PRIORITY = 191;
/** VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID, RFC 5424, 6. */
const HEADER = /^(\d{1,2}) (\S+) (\S+) (\S+) (\S+) (\S+)(?: |$)/;
/** The local time of RFC 3164, 4.1.2, and what devices make of it: a sequence number, a mark, a year, a zone. */
const LOCAL_TIME =
  /^(?:\d+: )?[*.]?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (?:(\d{4}) )?(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?: (\d{4}))?(?: (UTC|GMT))?(:?)(?: |$)/;
const FIRST_WORD = /^(\S+) /;
/** The process of a message, with its number in brackets. Host names end without a colon. */
const TAG = /^([^\s:[\]]{1,128})(?:\[([^\]\s]{1,128})\])?:(?: |$)/;
const COOKIE = /^ ?@cee: ?/;
const NIL = "-";
/** Elements and parameters of structured data. More are kept as text. */
const MAX_PARAMETERS = 1_000;

export interface SyslogOptions {
  /** Epoch milliseconds of the receipt. */
  now: number;
  /** Zone of times without one. */
  zone: Zone;
  /** Whether messages have structured data. Heroku's have none, and no `-` in its place. */
  hasStructuredData: boolean;
  /** Reads messages that are JSON objects. */
  records: RecordReader;
}

/** Reads one message of RFC 5424 or RFC 3164. A text that is neither becomes a message as it is. */
export function readSyslog(text: string, options: SyslogOptions): DoorEntry {
  const priority = Number(PRIORITY.exec(text)?.[1] ?? Number.NaN);
  const rest = priority <= MAX_PRIORITY ? text.slice(text.indexOf(">") + 1) : text;
  const header = priority <= MAX_PRIORITY ? HEADER.exec(rest) : null;
  const parts = header === null ? readOldForm(rest, options) : readNewForm(header, rest, options);
  // Programs write JSON objects to syslog, too, with levels and times of their own.
  const entry = options.records.readLine(parts.message.replace(COOKIE, ""));
  const details = { ...parts.details };
  if (parts.time !== null) {
    const { time, sent } = parts.time;
    if (entry.time === null) setTime(entry, parts.time);
    else if (time !== entry.time) details.timestamp = sent ?? new Date(time ?? Number.NaN).toISOString();
  }
  for (const [name, own] of [
    ["host", "host"],
    ["app", "service"],
  ] as const) {
    const value = parts[name];
    if (value === undefined) continue;
    entry[own] ??= value;
    if (entry[own] !== value) details[name] = value;
  }
  if (priority <= MAX_PRIORITY) {
    entry.level ??= levelOfNumber(priority & 7, "syslog")?.level ?? null;
    details.facility = FACILITIES[priority >> 3];
    details.severity = SEVERITIES[priority & 7];
  }
  if (Object.keys(details).length > 0) addData(entry, "syslog", details);
  return entry;
}

function setTime(entry: DoorEntry, { time, sent }: Partial<ReadTime>): void {
  entry.time = time ?? null;
  if (sent !== undefined) entry.sentTime = sent;
}

interface Parts {
  /** A text that is no time has no `time`. */
  time: Partial<ReadTime> | null;
  host?: string;
  app?: string;
  details: Record<string, unknown>;
  message: string;
}

function readNewForm(header: RegExpExecArray, rest: string, options: SyslogOptions): Parts {
  const [whole, version = "", timestamp = "", host = "", app = "", procid = "", msgid = ""] = header;
  const time = timestamp === NIL ? null : (readIsoTime(timestamp, options.zone) ?? { sent: timestamp });
  const after = rest.slice(whole.length);
  const structured = options.hasStructuredData ? readStructuredData(after) : null;
  return {
    time,
    ...(host !== NIL && { host }),
    ...(app !== NIL && { app }),
    details: {
      ...(version !== "1" && { version }),
      ...(procid !== NIL && { procid }),
      ...(msgid !== NIL && { msgid }),
      ...(structured !== null && structured.count > 0 && { structuredData: structured.data }),
    },
    message: (structured === null ? after : after.slice(structured.end)).replace(/^\uFEFF/, ""),
  };
}

function readOldForm(rest: string, options: SyslogOptions): Parts {
  const local = LOCAL_TIME.exec(rest);
  const stamp = local?.[0] ?? FIRST_WORD.exec(rest)?.[0] ?? "";
  const time = local === null ? readIsoTime(stamp.trimEnd(), options.zone) : readMatchedTime(local, options);
  if (time === null) return { time, details: {}, message: rest };
  const after = rest.slice(stamp.length);
  // Network devices end the time with a colon, and name neither host nor process.
  const hasHost = local?.[8] !== ":" && !TAG.test(after);
  const host = hasHost ? FIRST_WORD.exec(after)?.[1] : undefined;
  const content = host === undefined ? after : after.slice(host.length + 1);
  const tag = TAG.exec(content);
  const [named = "", app, procid] = tag ?? [];
  return {
    time,
    ...(host !== undefined && host !== NIL && { host }),
    ...(app !== undefined && { app }),
    details: procid === undefined ? {} : { procid },
    message: content.slice(named.length),
  };
}

function readMatchedTime(match: RegExpExecArray, { zone, now }: SyslogOptions): ReadTime | null {
  const [, month = "", day = "", year, clock = "", fraction = "", lateYear, zoneName] = match;
  const parts = { month, day, year: year ?? lateYear, clock, fraction };
  const time = readLocalTime(parts, zoneName === undefined ? zone : utc, now);
  return time === null ? null : { time };
}

type Elements = Record<string, Record<string, string | string[]>>;

interface StructuredData {
  /** A text if there are too many elements and parameters. */
  data: Elements | string;
  count: number;
  /** Index of the message's first character. */
  end: number;
}

/** Reads `[id name="value" ...]...` at the start of a text; `null` if the text does not start with structured data. */
function readStructuredData(text: string): StructuredData | null {
  if (text === NIL || text.startsWith("- ")) return { data: {}, count: 0, end: Math.min(text.length, 2) };
  const elements: Elements = Object.create(null);
  const element = /\[([^\s="\]]{1,128})((?: +[^\s="\]]{1,128}="(?:[^"\\]|\\[\s\S])*")*) *\]/y;
  let end = 0;
  let count = 0;
  let values = 0;
  for (let found = element.exec(text); found !== null; found = element.exec(text)) {
    const [, id = "", parameters = ""] = found;
    if (values <= MAX_PARAMETERS) {
      elements[id] ??= Object.create(null);
      values += 1 + addParameters(elements[id] ?? {}, parameters);
    }
    end = element.lastIndex;
    count++;
  }
  if (count === 0 || (end < text.length && text[end] !== " ")) return null;
  const data = values > MAX_PARAMETERS ? text.slice(0, end) : elements;
  return { data, count, end: Math.min(text.length, end + 1) };
}

/** Adds parameters, one more than `MAX_PARAMETERS` at most. @returns their number */
function addParameters(target: Record<string, string | string[]>, text: string): number {
  let count = 0;
  for (const [, name = "", quoted = ""] of text.matchAll(/([^\s="]+)="((?:[^"\\]|\\[\s\S])*)"/g)) {
    const value = quoted.replace(/\\(["\\\]])/g, "$1");
    const present = target[name];
    if (present === undefined) target[name] = value;
    else if (typeof present === "string") target[name] = [present, value];
    else present.push(value);
    if (++count > MAX_PARAMETERS) break;
  }
  return count;
}

/** Adds to a record's data. A member of the record with that name is kept under another one. */
export function addData(entry: DoorEntry, name: string, value: unknown): void {
  if (Object.hasOwn(entry.data, name)) define(entry.data, freeName(entry.data, name), entry.data[name]);
  define(entry.data, name, value);
}
