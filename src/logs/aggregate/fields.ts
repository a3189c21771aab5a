import type { OwnMember } from "../entry.ts";
import { isArrayIndex, isOwnMember } from "../query/data-path.ts";

/** Fields of the entry itself, by their names in requests. Any other name is a path in `data`. */
const OWN_FIELDS = {
  level: "level",
  category: "category",
  type: "type",
  message: "message",
  time: "time",
  timestamp: "time",
  received: "received",
  receivedAt: "received",
  seq: "seq",
  session: "session",
  trace: "trace",
  traceId: "trace",
  span: "span",
  spanId: "span",
  project: "project",
  projectId: "project",
  id: "id",
  /** The pattern of the message; see `patternOf`. */
  pattern: "pattern",
} as const;

export type OwnField = (typeof OWN_FIELDS)[keyof typeof OWN_FIELDS];

/** Paths in `data` of names that stand for several members, the first that an entry has. */
const SEMANTIC_FIELDS: Readonly<Record<OwnMember, readonly (readonly string[])[]>> = {
  service: [["service"], ["service", "name"], ["service.name"]],
  host: [["host"], ["host", "name"], ["host.name"]],
};

/** A field that a request names. */
export interface Field {
  /** As written in the request. */
  name: string;
  /** `null` if the field is a member of `data`. */
  own: OwnField | null;
  /** Paths in `data`. The first one that has a value counts; one that is not an object comes before one that is. */
  paths: readonly (readonly string[])[];
  /** The own member that counts as a value, and its rank among the paths; `null` if there is none. */
  member: { name: OwnMember; rank: number } | null;
}

/** Rank of an own member before all paths, and after all paths with values that are no objects; see `dataAt`. */
const FIRST_RANK = -1;
const MIDDLE_RANK = 500;

const QUOTED = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"`;
const INDEX = String.raw`\[(?:0|[1-9]\d*|${QUOTED})\]`;
const BARE = String.raw`[^.[\]"\u0000-\u001f]+`;
const NAME = `(?:${QUOTED}|${BARE})`;

/** The pattern of a field, as published in OpenAPI: names joined by ".", `[n]` for an item of an array. */
export const FIELD_PATTERN = new RegExp(`^${NAME}(?:${INDEX})*(?:\\.${NAME}(?:${INDEX})*)*$`);
const PART = new RegExp(`(\\.?)(?:(${QUOTED})|(${INDEX})|(${BARE}))`, "y");

/** Maximum characters of a field. */
export const FIELD_LENGTH = 256;
/** Consecutive unquoted names of which each dot may also be part of a name, as in `http.status_code`. */
const MAX_JOINED_NAMES = 5;

/** Returns the field of a name that matches `FIELD_PATTERN`. */
export function fieldOf(name: string): Field {
  if (Object.hasOwn(OWN_FIELDS, name)) {
    // SAFETY: the name is a key of the table.
    return { name, own: OWN_FIELDS[name as keyof typeof OWN_FIELDS], paths: [], member: null };
  }
  if (isOwnMember(name)) return { name, own: null, paths: SEMANTIC_FIELDS[name], member: { name, rank: FIRST_RANK } };
  return dataField(name, pathsOf(name));
}

function dataField(name: string, paths: readonly (readonly string[])[]): Field {
  const [only] = paths.find((path) => path.length === 1) ?? [];
  return { name, own: null, paths, member: isOwnMember(only) ? { name: only, rank: MIDDLE_RANK } : null };
}

/** Returns the field of a path in `data`: names, which may have dots, and indexes of items. */
export function fieldOfPath(name: string, path: readonly (string | number)[]): Field {
  const parts = path.map((part, at) => {
    return { name: String(part), joins: typeof part === "string" && typeof path[at - 1] === "string" };
  });
  return dataField(name, spellingsOf(parts));
}

interface PathPart {
  name: string;
  /** Whether a dot before the name may also be part of a longer name. */
  joins: boolean;
}

function pathsOf(text: string): string[][] {
  const parts = partsOf(text);
  // `data.status` is the member `status`: the way to name a member that has the name of an own field.
  if (parts.length > 1 && parts[0]?.name === "data" && parts[1]?.joins) parts.shift();
  return spellingsOf(parts);
}

function partsOf(text: string): PathPart[] {
  const parts: PathPart[] = [];
  PART.lastIndex = 0;
  let isBare = false;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [, dot, quoted, index, bare] = part;
    const name = quoted ?? index?.slice(1, -1) ?? bare ?? "";
    parts.push({
      name: name.startsWith('"') && bare === undefined ? unquoted(name) : name,
      joins: dot === "." && isBare && bare !== undefined,
    });
    isBare = bare !== undefined;
  }
  return parts;
}

function unquoted(text: string): string {
  // SAFETY: the pattern accepts only JSON strings.
  return JSON.parse(text) as string;
}

/** Returns every path that joins some of the names by dots, the one that joins none first. */
function spellingsOf(parts: readonly PathPart[]): string[][] {
  const joints = parts.filter(({ joins }) => joins).length;
  const choices = joints < MAX_JOINED_NAMES ? 2 ** joints : 1;
  return Array.from({ length: choices }, (_, choice) => {
    const path: string[] = [];
    let joint = 0;
    for (const { name, joins } of parts) {
      const isJoined = joins && ((choice >> joint++) & 1) === 1;
      if (isJoined) path.push(`${path.pop()}.${name}`);
      else path.push(name);
    }
    return path;
  });
}

/** Maximum number of members for which comparing a name with each is faster than a lookup. */
const FEW_MEMBERS = 4;

/** A member of `data` that a request needs, or an object on the way to one. */
export class FieldNode {
  /** Children by name as written in JSON, bytes of UTF-8, one character each. */
  readonly #members = new Map<string, FieldNode>();
  readonly #few: [written: string, node: FieldNode][] = [];
  /** Children by index in an array. */
  readonly items = new Map<number, FieldNode>();
  /** Fields whose value is here, and the rank of this path among those of the field. */
  readonly fields: { field: number; rank: number }[] = [];

  /** Returns the child with a name, which it creates if needed. */
  child(name: string): FieldNode {
    const written = Buffer.from(JSON.stringify(name).slice(1, -1), "utf8").toString("latin1");
    const known = this.#members.get(written);
    if (known) return known;
    const node = new FieldNode();
    this.#members.set(written, node);
    this.#few.push([written, node]);
    if (isArrayIndex(name)) this.items.set(Number(name), node);
    return node;
  }

  children(): Iterable<FieldNode> {
    return this.#members.values();
  }

  get hasChildren(): boolean {
    return this.#few.length > 0;
  }

  /** Returns the child whose name is at a position of a line; `null` if no field needs it. */
  member(text: string, from: number, to: number): FieldNode | null {
    if (this.#few.length > FEW_MEMBERS) return this.#members.get(text.slice(from, to)) ?? null;
    for (const [name, node] of this.#few) {
      if (name.length === to - from && text.startsWith(name, from)) return node;
    }
    return null;
  }
}

/** Returns the tree of the paths of all fields; `null` if none is in `data`. */
export function fieldTree(fields: readonly Field[]): FieldNode | null {
  const root = new FieldNode();
  for (const [field, { paths }] of fields.entries()) {
    for (const [rank, path] of paths.entries()) {
      let node = root;
      for (const name of path) node = node.child(name);
      node.fields.push({ field, rank });
    }
  }
  return root.hasChildren ? root : null;
}
