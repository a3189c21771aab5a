/**
 * The entries of the targets: about 360 bytes of JSON, 25 of them random (session and trace id). An entry depends only on
 * its number, so every run and every server stores the same ones, and answers can be computed instead of stored.
 */

/** Entries spread evenly over a time span. */
export interface TargetData {
  entries: number;
  /** Epoch milliseconds: the first entry is at `start`, the last one before `end`. */
  start: number;
  end: number;
}

export const ROUTES: readonly string[] = [
  ...["/api/v1/orders", "/checkout", "/api/v1/cart", "/login", "/api/v1/search", "/api/v1/products/:id", "/health"],
  ...Array.from({ length: 13 }, (_, index) => `/api/v2/resource-${index}/:id`),
];
export const USERS = 20_000;
const REGIONS = ["eu", "us", "ap"];

/** The planted text, as it is searched: part of a longer word, in another case. */
export const RARE_TEXT = "GlassPet";
/** Positions of the entries that contain it, as shares of all entries. */
const RARE_AT = [0.07, 0.27, 0.47, 0.67, 0.87];
/** Position of the entry whose trace id is searched. */
const TRACE_AT = 0.42;

/** What an entry consists of, besides its random ids. */
export interface Fields {
  route: number;
  durationMs: number;
  status: number;
  user: number;
  isTeam: boolean;
  /** Whether the message of a failure mentions a timeout. */
  isTimeout: boolean;
}

/** @param into receives the fields, so that millions of entries need no objects */
export function fieldsAt(index: number, into: Fields): void {
  into.route = Math.floor(random(index, 0) ** 2 * ROUTES.length);
  into.durationMs = Math.floor(random(index, 1) ** 2 * 1500);
  const outcome = random(index, 2);
  into.status = outcome < 0.04 ? 500 : outcome < 0.13 ? 404 : outcome < 0.16 ? 304 : 200;
  into.user = Math.floor(random(index, 3) * USERS);
  into.isTeam = random(index, 4) < 0.2;
  into.isTimeout = into.status === 500 && random(index, 5) < 0.5;
}

export function newFields(): Fields {
  return { route: 0, durationMs: 0, status: 0, user: 0, isTeam: false, isTimeout: false };
}

export function timestampAt({ entries, start, end }: TargetData, index: number): number {
  return start + Math.floor(((end - start) * index) / entries);
}

export function levelOf(status: number): string {
  return status === 500 ? "error" : status === 404 ? "warn" : "info";
}

function messageOf({ route, status, durationMs, isTimeout }: Fields): string {
  const what = `GET ${ROUTES[route]}`;
  return isTimeout
    ? `${what} failed with status ${status}: timeout after ${durationMs} ms`
    : `${what} completed with status ${status} in ${durationMs} ms`;
}

/** The message of an entry, with the planted text if the entry has it. */
export function messageAt(data: TargetData, index: number, fields: Fields): string {
  return isRare(data, index) ? `${messageOf(fields)} after a retry by stormglasspetrel-7` : messageOf(fields);
}

export function traceIdAt(index: number): string {
  return hex(index, 8) + hex(index, 9) + hex(index, 10) + hex(index, 11);
}

export function isRare({ entries }: TargetData, index: number): boolean {
  return RARE_AT.some((share) => Math.floor(share * entries) === index);
}

export function searchedTrace({ entries }: TargetData): number {
  return Math.floor(TRACE_AT * entries);
}

const own = newFields();

/** An entry as a line, with its members in the order in which the service stores them. */
function lineAt(data: TargetData, index: number): string {
  fieldsAt(index, own);
  const timestamp = new Date(timestampAt(data, index)).toISOString();
  const session = `ses_${hex(index, 12)}${hex(index, 13)}${hex(index, 14).slice(0, 2)}`;
  const { route, status, durationMs, user, isTeam } = own;
  const members =
    `"route":"${ROUTES[route]}","status":${status},"durationMs":${durationMs},` +
    `"user":{"id":"usr_${user}","plan":"${isTeam ? "team" : "free"}"},"region":"${REGIONS[index % 3]}"`;
  return (
    `{"timestamp":"${timestamp}","level":"${levelOf(status)}","category":"http","type":"request",` +
    `"message":"${messageAt(data, index, own)}","session":"${session}","traceId":"${traceIdAt(index)}","data":{${members}}}`
  );
}

/** Entries as NDJSON, without a line break at the end. */
export function linesOf(data: TargetData, first: number, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, at) => lineAt(data, first + at)).join("\n"));
}

/** A number from 0 to 1, the same for the same arguments. */
function random(index: number, salt: number): number {
  return mixed(index, salt) / 2 ** 32;
}

function hex(index: number, salt: number): string {
  return mixed(index, salt).toString(16).padStart(8, "0");
}

/** 32 bits that look random (the finalizer of MurmurHash3, twice). */
function mixed(index: number, salt: number): number {
  return scrambled(scrambled(index ^ 0x9e3779b9) + Math.imul(salt + 1, 0x85ebca6b));
}

function scrambled(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
