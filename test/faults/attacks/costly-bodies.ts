/** Bodies that are small on the wire or within every limit, and cost as much as a body can. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

/** The largest bodies that ingest accepts, after decompression: of JSON, and of lines. */
const BODY_BYTES = 5 * 1024 * 1024;
const LINES_BYTES = 20 * 1024 * 1024;
const LINES_ENTRIES = 20_000;
/** The largest entry. */
const ENTRY_BYTES = 256 * 1024;

export interface CostlyBody {
  name: string;
  /** The JSON text, decompressed. */
  json: Buffer;
  /** The bytes to send. */
  sent: Buffer;
  headers: Readonly<Record<string, string>>;
}

/** A body of one list with as many of the given elements as fit. */
function listOf(element: string): string {
  const [open, close] = ['{"message":"x","data":{"a":[', "]}}"];
  const count = Math.floor((BODY_BYTES - open.length - close.length) / (element.length + 1));
  return `${open}${`${element},`.repeat(count).slice(0, -1)}${close}`;
}

/** As many entries as a body may have, with `data` of about the given size each. */
function entriesOf(dataOf: (bytes: number, index: number) => string): string {
  const bytes = Math.floor(BODY_BYTES / 1000) - 40;
  return `[${Array.from({ length: 1000 }, (_, index) => `{"message":"x","data":${dataOf(bytes, index)}}`).join(",")}]`;
}

const nested = (depth: number, leaf: string) => `${'{"a":'.repeat(depth)}${leaf}${"}".repeat(depth)}`;
const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(",")}}`;

/** Names of the bodies, and a function that creates each. */
const BODIES: Readonly<Record<string, () => string>> = {
  "objects in one list": () => listOf("{}"),
  "lists in one list": () => listOf("[]"),
  "numbers in one list": () => listOf("0"),
  "objects in a list of entries": () => `[${"{},".repeat((BODY_BYTES - 3) / 3).slice(0, -1)}]`,
  "numbers in a list of entries": () => `[${"0,".repeat((BODY_BYTES - 3) / 2).slice(0, -1)}]`,
  "objects in a member beside logs": () => `{"x":[${"{},".repeat((BODY_BYTES - 30) / 3).slice(0, -1)}],"logs":[]}`,
  "lists nested in lists": () => "[".repeat(BODY_BYTES / 2) + "]".repeat(BODY_BYTES / 2),
  "many names in one entry": () => `{"message":"x","data":${members(480_000)}}`,
  "many members of one entry": () => `{"message":"x",${members(480_000).slice(1)}`,
  "escapes in one entry": () => `{"message":"${"\\u00e9".repeat((BODY_BYTES - 20) / 6)}"}`,
  "escapes in entries of the largest size": () =>
    `[${Array.from({ length: 20 }, () => `{"message":"${"\\u4e00".repeat((ENTRY_BYTES - 20) / 6)}"}`).join(",")}]`,
  "entries of 1,700 objects": () => entriesOf((bytes) => `{"a":[${"{},".repeat(bytes / 3 - 4).slice(0, -1)}]}`),
  "entries of 600 names": () => entriesOf((bytes) => members(Math.floor(bytes / 8))),
  "entries nested as deep as allowed": () =>
    entriesOf((bytes) => `{"a":[${`${nested(30, "{}")},`.repeat(Math.floor(bytes / 184)).slice(0, -1)}]}`),
  "20 entries of 19,000 objects": () =>
    `[${Array.from({ length: 20 }, () => `{"message":"x","data":{"a":[${"{},".repeat(19_000).slice(0, -1)}]}}`).join(",")}]`,
  "entries with integers that lose digits": () =>
    entriesOf((bytes) => `{"a":[${"9007199254740992,".repeat(bytes / 17 - 1).slice(0, -1)}]}`),
};

export const COSTLY_BODIES: readonly string[] = Object.keys(BODIES);

/** @param name one of `COSTLY_BODIES` */
export function costlyBody(name: string): CostlyBody {
  const json = Buffer.from(BODIES[name]?.() ?? "");
  if (json.length === 0 || json.length > BODY_BYTES) throw new Error(`${name}: ${json.length} bytes`);
  return {
    name,
    json,
    sent: gzipSync(json, { level: 9 }),
    headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
  };
}

/** As many lines as a body may have, each with `data` of about the given size. */
function linesOf(count: number, dataOf: (bytes: number) => string): string {
  const bytes = Math.floor(LINES_BYTES / count) - 30;
  return Array.from({ length: count }, () => `{"message":"x","data":${dataOf(bytes)}}\n`).join("");
}

const listIn = (bytes: number, element: string) =>
  `{"a":[${`${element},`.repeat(Math.floor((bytes - 10) / (element.length + 1))).slice(0, -1)}]}`;

/** Bodies of lines (NDJSON): names, and a function that creates each. */
const LINES_BODIES: Readonly<Record<string, () => string>> = {
  "lines of 340 objects": () => linesOf(LINES_ENTRIES, (bytes) => listIn(bytes, "{}")),
  "1,000 lines of 19,000 values": () => linesOf(520, (bytes) => listIn(Math.min(bytes, 38_000), "0")),
  "lines nested as deep as allowed": () => linesOf(LINES_ENTRIES, (bytes) => listIn(bytes, nested(29, "{}"))),
  "lines of 120 names": () => linesOf(LINES_ENTRIES, (bytes) => members(Math.floor(bytes / 8))),
  "lines with integers that lose digits": () => linesOf(LINES_ENTRIES, (bytes) => listIn(bytes, "9007199254740992")),
  "lines of distinct categories and types": () =>
    Array.from({ length: LINES_ENTRIES }, (_, index) => {
      const name = `${index}-`.padEnd(64, "\u{1f600}".repeat(29));
      return `{"message":"x","category":"${name}","type":"${name}","session":"${index}","traceId":"t${index}"}\n`;
    }).join(""),
  "one-byte lines, then line breaks": () => `${"1\n".repeat(LINES_ENTRIES)}${"\n".repeat(LINES_BYTES - 50_000)}`,
  "lines that hardly compress": () =>
    Array.from({ length: 100 }, () => `{"message":"${randomBytes(148_000).toString("base64")}"}\n`).join(""),
};

export const COSTLY_LINES: readonly string[] = Object.keys(LINES_BODIES);

/** @param name one of `COSTLY_LINES` */
export function costlyLines(name: string): CostlyBody {
  const json = Buffer.from(LINES_BODIES[name]?.() ?? "");
  if (json.length === 0 || json.length > LINES_BYTES) throw new Error(`${name}: ${json.length} bytes`);
  const headers = { "Content-Type": "application/x-ndjson", "Content-Encoding": "gzip" };
  return { name, json, sent: gzipSync(json, { level: 1 }), headers };
}

/** A body of lines of an agent that has fallen behind: 20,000 entries of 1 KB, not compressed. */
export function ordinaryLines(): CostlyBody {
  const now = Date.now();
  const lines = Array.from({ length: LINES_ENTRIES }, (_, index) =>
    JSON.stringify({
      timestamp: new Date(now - index).toISOString(),
      level: "info",
      category: "http",
      type: "request",
      message: `GET /api/v1/orders/${index} took ${index % 1500} ms`,
      traceId: randomBytes(16).toString("hex"),
      data: {
        status: 200,
        headers: `user-agent: some browser/${index % 97}; `.repeat(22),
        id: randomBytes(8).toString("hex"),
      },
    }),
  );
  const json = Buffer.from(`${lines.join("\n").slice(0, LINES_BYTES)}`);
  return { name: "ordinary lines", json, sent: json, headers: { "Content-Type": "application/x-ndjson" } };
}

/** A body of a client that has fallen behind: 3.5 MB of 1,000 entries, not compressed. */
export function ordinaryBody(): CostlyBody {
  const now = Date.now();
  const entries = Array.from({ length: 1000 }, (_, index) => ({
    timestamp: new Date(now - index).toISOString(),
    level: "error",
    category: "http",
    type: "request",
    message: `GET /api/v1/orders/${index} failed`,
    traceId: randomBytes(16).toString("hex"),
    // A stack trace that compresses like a real one.
    data: {
      stack: Array.from(
        { length: 58 },
        (_, line) => `at f${line} (${randomBytes(4).toString("hex")}.js:${line}:11) of the application's own code`,
      )
        .join("\n")
        .slice(0, 3_380),
    },
  }));
  const json = Buffer.from(JSON.stringify(entries));
  return { name: "ordinary", json, sent: json, headers: { "Content-Type": "application/json" } };
}
