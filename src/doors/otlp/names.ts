/** Names of attributes and of JSON members, found by their bytes, so that they need no text of their own each time. */

/** What a name means to a record. */
export const ROLE = {
  plain: 0,
  /** Records with this attribute are read in full: the name has to be moved or cannot be written as it comes. */
  special: 1,
  service: 2,
  host: 3,
  session: 4,
  recordId: 5,
} as const;
export type Role = (typeof ROLE)[keyof typeof ROLE];

/** Members of `data` that do not come from attributes. An attribute of that name is in `data.attributes`. */
export const RESERVED: ReadonlySet<string> = new Set(["resource", "scope", "body", "otel", "attributes"]);
/** Members of `data` that the service writes. */
const OWN: ReadonlySet<string> = new Set(["_taffrail", "service", "host", "__proto__"]);
/** An id that the client gave the record: https://opentelemetry.io/docs/specs/semconv/general/logs/ */
export const RECORD_ID = "log.record.uid";

const ROLES: Readonly<Record<string, Role>> = {
  "service.name": ROLE.service,
  "host.name": ROLE.host,
  "session.id": ROLE.session,
  [RECORD_ID]: ROLE.recordId,
};

export interface Name {
  bytes: Uint8Array;
  text: string;
  /** The name as a member in JSON: `"name":`. */
  json: string;
  /** `json` in UTF-8. */
  utf8: Uint8Array;
  role: Role;
  /** Number of the record in which the name was found last. */
  record: number;
}

const encoder = new TextEncoder();
const SLOTS = 512;
/** Longer names are rare. */
const MAX_BYTES = 96;

/** The names of recent records. Which name is in which slot depends on its bytes only, so the table serves all requests. */
const slots: (Name | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
let records = 0;

/** Numbers a record, so that a name that occurs twice in it is noticed. */
export function nextRecord(): number {
  records = (records + 1) % Number.MAX_SAFE_INTEGER;
  return records;
}

/** Returns the name between two indexes; `null` if it is too long to be kept. */
export function nameAt(bytes: Buffer, from: number, to: number): Name | null {
  const length = to - from;
  if (length > MAX_BYTES || length === 0) return null;
  const middle = bytes[from + (length >> 1)] ?? 0;
  const slot =
    (length + (bytes[from] ?? 0) * 7 + middle * 31 + (bytes[to - 1] ?? 0) * 101 + (bytes[to - 2] ?? 0) * 13) &
    (SLOTS - 1);
  const known = slots[slot];
  if (known !== undefined && isSame(known.bytes, bytes, from, length)) return known;
  const made = newName(bytes, from, to);
  slots[slot] = made;
  return made;
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let i = 0; i < length; i++) if (known[i] !== bytes[from + i]) return false;
  return true;
}

function newName(bytes: Buffer, from: number, to: number): Name {
  const text = bytes.toString("utf8", from, to);
  const own = Uint8Array.prototype.slice.call(bytes, from, to);
  // JSON writes names that are numbers first, whatever their place is.
  const isSpecial = RESERVED.has(text) || OWN.has(text) || /^\d/.test(text) || /[\\\ufffd]/.test(text);
  const role = isSpecial ? ROLE.special : Object.hasOwn(ROLES, text) ? (ROLES[text] ?? ROLE.plain) : ROLE.plain;
  const json = `${JSON.stringify(text)}:`;
  return { bytes: own, text, json, utf8: encoder.encode(json), role, record: 0 };
}
