import type { LogEntry } from "../../model/types.ts";

/** Members of `data` with the id of a trace, as queries name them. A dotted name is also one of a member of a member. */
export const TRACE_FIELDS = ["traceId", "trace_id", "traceID", "trace.id"] as const;
export type TraceField = (typeof TRACE_FIELDS)[number];

/** Ids that mean that there is none. */
const NO_ID = /^0*$/;

/** The trace of an entry. `field`: the member of `data` that has the id; `null`: the entry itself. */
export interface TraceRef {
  id: string;
  field: TraceField | null;
}

export function traceOf({ traceId, data }: Pick<LogEntry, "traceId" | "data">): TraceRef | null {
  if (traceId !== undefined) return { id: traceId, field: null };
  const id = idIn(data, TRACE_FIELDS);
  return id === null ? null : { id: id.text, field: id.name };
}

/** The first of some members of `data` that has an id. */
export function idIn<N extends string>(data: LogEntry["data"], names: readonly N[]): { name: N; text: string } | null {
  for (const name of names) {
    const value = data?.[name] ?? within(data, name.split("."));
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text === "string" && !NO_ID.test(text)) return { name, text };
  }
  return null;
}

function within(data: LogEntry["data"], names: readonly string[]): unknown {
  let value: unknown = data;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    // SAFETY: an object with this member.
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The query for the entries of a trace. With `field` also those that have the id there: without `data`, `traceId` is the entry's own id. */
export function traceQuery({ id, field }: TraceRef): string {
  const text = JSON.stringify(id);
  return field === null ? `trace:${text}` : `trace:${text} OR data.${field}:${text}`;
}

export function traceFieldNamed(name: string | undefined): TraceField | null {
  return TRACE_FIELDS.find((field) => field === name) ?? null;
}
