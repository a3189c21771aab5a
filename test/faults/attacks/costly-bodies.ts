/** Bodies that are small on the wire or within every limit, and cost as much as a body can. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

/** The largest body that ingest accepts, after decompression. */
const BODY_BYTES = 5 * 1024 * 1024;
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
