import { gzipSync } from "node:zlib";
import fc from "fast-check";
import type { Target } from "./routes.ts";

/** One request as it is sent. */
export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** An account and what belongs to it. */
export interface Persona {
  accessToken: string;
  apiKey: string;
  workspaceId: string;
  projectId: string;
  keyId: string;
  logId: string;
}

/** Valid credentials and ids, so that requests pass the first checks. */
export interface Known {
  /** For requests that destroy nothing. */
  lasting: readonly Persona[];
  /** For requests that may end a session, a key or a project. */
  victims: readonly Persona[];
  /** Invalid credentials. */
  badTokens: readonly string[];
}

const LONG = "x".repeat(3000);
const ODD_TEXT = [
  "",
  " ",
  "0",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "\u0000",
  "\ud800",
  "😀",
  "é",
  LONG,
  "'; DROP TABLE x;--",
];
const ODD_VALUES: unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  ...ODD_TEXT,
];
/** JSON texts that `JSON.stringify` never writes. */
const ODD_JSON = [
  "1e999",
  "-1e999",
  '{"__proto__":{"x":1}}',
  '"\\ud800"',
  `${"[".repeat(500)}${"]".repeat(500)}`,
  '{"a":1,"a":2}',
  "1E400",
];

const oddText = fc.oneof(fc.constantFrom(...ODD_TEXT), fc.string({ unit: "binary", maxLength: 30 }));

/** Pieces of the query language, also those that only other pieces make complete. */
const PIECES = [
  ...[
    "level:error",
    "a:b",
    "a.b:>5",
    '"a b".c:*',
    "time:1h",
    "time:2026-11-22..",
    "seq:<=9",
    "session:x",
    "m",
    "*",
    "tags:(a OR",
  ],
  ...[
    " OR ",
    " AND ",
    " NOT ",
    "-",
    "(",
    ")",
    " ",
    ",",
    '"',
    "~/",
    "/i",
    "\\",
    "[0]",
    "..",
    ":",
    ">=",
    "=",
    "\u0000",
    "\ud800",
  ],
  ...[" | ", " | count by a, bin(5m)", " | stats p99(a), rate() as r by level", " | top 5 by a", " | rare by pattern"],
  ...[
    " | patterns 5 vs 1d",
    " | facets 3",
    " | fields time, a",
    " | where count:>1",
    " | sort a desc",
    " | limit 5",
    " | context 2",
  ],
  ...["~/(a|b)+c/", "~/\\d{99}/", " by ", " as ", " vs ", "bin(", "1e999", "999999999999d"],
];

const queryText = fc
  .array(fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: oddText }), {
    maxLength: 8,
  })
  .map((pieces) => pieces.join(""));

/** JSON text of a value in which some members were replaced, removed or added. */
function changed(value: unknown): fc.Arbitrary<string> {
  const anything = fc.oneof(
    fc.constantFrom(...ODD_VALUES).map((odd) => JSON.stringify(odd)),
    fc.constantFrom(...ODD_JSON),
    fc.jsonValue({ maxDepth: 3 }).map((odd) => JSON.stringify(odd)),
  );
  const kept = (inner: fc.Arbitrary<string>) =>
    fc.oneof({ weight: 20, arbitrary: inner }, { weight: 1, arbitrary: anything });
  if (Array.isArray(value)) {
    const added = sometimes(anything.map((text) => [text]));
    const items = value.map(changed);
    return kept(fc.tuple(...items, added).map((all) => `[${all.flat().join(",")}]`));
  }
  if (typeof value !== "object" || value === null) return kept(fc.constant(JSON.stringify(value)));
  const members = Object.entries(value).map(([name, member]) =>
    fc
      .tuple(fc.integer({ min: 0, max: 19 }), memberOf(name, member))
      .map(([drop, text]) => (drop === 0 ? [] : [`${JSON.stringify(name)}:${text}`])),
  );
  const added = sometimes(fc.tuple(oddText, anything).map(([name, text]) => [`${JSON.stringify(name)}:${text}`]));
  return kept(fc.tuple(...members, added).map((all) => `{${all.flat().join(",")}}`));
}

/** A query is another one more often than other members are changed. */
function memberOf(name: string, value: unknown): fc.Arbitrary<string> {
  if (name !== "query" && name !== "q") return changed(value);
  return fc.oneof(
    changed(value),
    queryText.map((text) => JSON.stringify(text)),
  );
}

function sometimes(arbitrary: fc.Arbitrary<string[]>): fc.Arbitrary<string[]> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary });
}

function bodyOf(valid: object | null): fc.Arbitrary<Buffer | null> {
  const text = changed(valid ?? { a: 1 });
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 12, arbitrary: text.map((json) => Buffer.from(json)) },
    { weight: 1, arbitrary: text.map((json) => Buffer.from(json.slice(0, -1))) },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 4 }).map((lines) => Buffer.from(lines.join("\n"))) },
    { weight: 1, arbitrary: text.map((json) => gzipSync(json)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 2, arbitrary: fc.constantFrom(300_000, 2_000_000).map((size) => Buffer.alloc(size, "[")) },
  );
}

const ODD_SEGMENTS = [
  "x",
  "%00",
  "%ff",
  "%F0%9F%98%80",
  "%E0%A4%A",
  "%",
  "..%2f..",
  "%2e%2e",
  ":projectId",
  "*",
  "a b".replace(" ", "%20"),
  LONG,
];

function pathOf(template: string, persona: Persona): fc.Arbitrary<string> {
  const own: Record<string, string> = { ...persona };
  const id = (name: string) =>
    fc.oneof(
      { weight: 10, arbitrary: fc.constant(own[name] ?? "x") },
      { weight: 1, arbitrary: fc.constantFrom(persona.projectId, persona.keyId, persona.workspaceId) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_SEGMENTS) },
      { weight: 1, arbitrary: oddText.map(encoded) },
    );
  const parts = template
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith("{") ? id(part.slice(1, -1)) : fc.constant(part)));
  const query = fc.oneof(
    { weight: 8, arbitrary: fc.constant("") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "?",
        "?limit=5",
        "?cursor=x&limit=0",
        "?limit=1e9",
        "?__proto__=1",
        "?token=x",
        "?%",
        "?a[]=1",
        "?before=3&after=100",
        "?before=101",
        "?since=0&level=warn&level=error&search=m",
        "?since=0&q=level:error%20-a:b%20OR%20~/m/",
        "?q=a:%3E%3D",
        "?since=1e9",
        "?ticket=tt_x",
      ),
    },
    { weight: 1, arbitrary: fc.tuple(oddText, oddText).map(([name, value]) => `?${encoded(name)}=${encoded(value)}`) },
  );
  const changedPath = fc.tuple(...parts).map((all) => all.join(""));
  const end = fc.oneof(
    { weight: 15, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.constantFrom("/", "//", "/x", "%00", ";a=b") },
  );
  return fc.tuple(changedPath, end, query).map((all) => all.join(""));
}

/** Percent-encodes a text; a lone surrogate becomes the replacement character. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "PURGE", "TRACE", "SEARCH"];
const CONTENT_TYPES = [
  "application/json",
  "application/x-ndjson",
  "text/plain",
  "application/json; charset=utf-16",
  "multipart/form-data",
  "",
  "/",
  "json;;",
];

/** A header value that the wire can carry. */
const headerText = fc.oneof(
  fc.constantFrom(
    "",
    "x",
    "*",
    "null",
    "a".repeat(8000),
    "\xe4\xff",
    "gzip",
    "0",
    "-1",
    "websocket",
    "bytes=0-",
    "text/html",
  ),
  fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, "?")),
);

const EXTRA_HEADERS = [
  ...[
    "X-Request-Id",
    "X-Forwarded-For",
    "CF-Connecting-IP",
    "Origin",
    "Idempotency-Key",
    "Content-Encoding",
    "Accept",
    "Cookie",
  ],
  ...[
    "Accept-Encoding",
    "If-None-Match",
    "Range",
    "Access-Control-Request-Method",
    "X-Workspace-Id",
    "Authorization",
    "traceparent",
  ],
  ...["Sec-Fetch-Site", "Upgrade-Insecure-Requests", "X-HTTP-Method-Override", "Forwarded", "Via", "X-Odd"],
];

function headersOf(
  { credential }: Target,
  persona: Persona,
  foreign: Persona,
  known: Known,
): fc.Arbitrary<Record<string, string>> {
  const right = credential === "apiKey" ? persona.apiKey : persona.accessToken;
  const wrong = [persona.accessToken, persona.apiKey, foreign.accessToken, foreign.apiKey, ...known.badTokens];
  const mostly = <T>(good: T, ...bad: T[]) =>
    fc.oneof({ weight: 10, arbitrary: fc.constant(good) }, { weight: 2, arbitrary: fc.constantFrom(...bad) });
  return fc
    .record({
      token: mostly<string | null>(right, null, ...wrong),
      workspaceId: mostly<string | null>(persona.workspaceId, null, foreign.workspaceId, "x"),
      type: mostly("application/json", ...CONTENT_TYPES),
      ip: fc.integer({ min: 1, max: 250 }),
      extra: fc.oneof(
        { weight: 3, arbitrary: fc.constant<[string, string][]>([]) },
        { weight: 1, arbitrary: fc.array(fc.tuple(fc.constantFrom(...EXTRA_HEADERS), headerText), { maxLength: 3 }) },
      ),
    })
    .map(({ token, workspaceId, type, ip, extra }) => ({
      // Many client IPs, so that the limit of one does not refuse every request.
      "CF-Connecting-IP": `192.0.2.${ip}`,
      "Content-Type": type,
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(workspaceId === null ? {} : { "X-Workspace-Id": workspaceId }),
      ...Object.fromEntries(extra),
    }));
}

/** Requests to one operation, by its own method or another. */
export function requestTo(target: Target, known: Known): fc.Arbitrary<FuzzRequest> {
  const method = fc.oneof(
    { weight: 8, arbitrary: fc.constant(target.method) },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
  );
  const [lasting, victims] = [fc.constantFrom(...known.lasting), fc.constantFrom(...known.victims)];
  return fc.tuple(method, lasting, lasting, victims).chain(([name, own, foreign, victim]) => {
    // Another method may turn a read into a destructive request.
    const persona = target.destructive || name === "DELETE" || name === "PUT" ? victim : own;
    const [path, headers] = [pathOf(target.path, persona), headersOf(target, persona, foreign, known)];
    return fc.record({ method: fc.constant(name), path, headers, body: bodyOf(target.body) });
  });
}
