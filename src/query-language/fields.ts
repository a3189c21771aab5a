import { type Field, OWN_FIELDS, type OwnField } from "./syntax.ts";

/** Names of fields: how they are read and written. */

/** Other names of own fields: those of the API's entries. */
const ALIASES: ReadonlyMap<string, OwnField> = new Map([
  ["traceId", "trace"],
  ["spanId", "span"],
  ["timestamp", "time"],
  ["receivedAt", "received"],
  ["projectId", "project"],
]);

const OWN: ReadonlyMap<string, OwnField> = new Map([...OWN_FIELDS.map((name) => [name, name] as const), ...ALIASES]);

/** Names of own fields with their aliases, for completion. */
export const OWN_NAMES: readonly string[] = [...OWN.keys()];

/** Begins the path of a member of `data` that has the name of an own field. */
const DATA = "data";

export const IDENTIFIER: string = String.raw`[\p{L}_@$][\p{L}\p{N}_@$-]*`;
const WHOLE_IDENTIFIER = new RegExp(`^${IDENTIFIER}$`, "u");

/** Returns the field of a path: an own field, else a member of `data`. */
export function fieldOf(path: readonly (string | number)[]): Field {
  const [first, ...rest] = path;
  if (rest.length === 0) {
    const name = OWN.get(String(first));
    if (name !== undefined) return { kind: "own", name };
  }
  return { kind: "data", path: first === DATA && rest.length > 0 ? rest : [...path] };
}

/** Writes a field as `fieldOf` and the parser read it. */
export function printField(field: Field): string {
  if (field.kind === "own") return field.name;
  if (field.kind === "column") return isColumnName(field.name) ? field.name : JSON.stringify(field.name);
  const [first = "", ...rest] = field.path;
  const isClash = rest.length === 0 && OWN.has(String(first));
  const names = isClash || (first === DATA && rest.length > 0) ? [DATA, ...field.path] : field.path;
  return names.map((name, index) => printName(name, index === 0)).join("");
}

function printName(name: string | number, isFirst: boolean): string {
  if (typeof name === "number") return `[${name}]`;
  const text = WHOLE_IDENTIFIER.test(name) ? name : JSON.stringify(name);
  return isFirst ? text : `.${text}`;
}

const CALL = new RegExp(`^[a-z0-9_]+\\((?:${IDENTIFIER}(?:\\.${IDENTIFIER}|\\[\\d+\\])*)?\\)$`, "u");
const DOTTED = new RegExp(`^${IDENTIFIER}(?:\\.${IDENTIFIER}|\\[\\d+\\])*$`, "u");

/** Whether the name of a column needs no quotes. */
function isColumnName(name: string): boolean {
  return DOTTED.test(name) || CALL.test(name);
}
