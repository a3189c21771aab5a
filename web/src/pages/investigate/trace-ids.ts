import { valueAt } from "../../../../src/logs/query/data-path.ts";
import type { LogEntry } from "../../model/types.ts";

/** Members of `data` with the id of a trace, as queries name them. A dotted name is also one of a member of a member. */
export const TRACE_FIELDS = ["traceId", "trace_id", "traceID", "trace.id"] as const;
export type TraceField = (typeof TRACE_FIELDS)[number];

/** Whether a text is an id: loggers write zeros for a missing one. */
export function isId(text: string): boolean {
  return !/^0*$/.test(text);
}

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
    const value = data?.[name] ?? valueAt(data, name.split("."));
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text === "string" && isId(text)) return { name, text };
  }
  return null;
}

/** The query for the entries of a trace. With `field` also those that have the id there: without `data`, `traceId` is the entry's own id. */
export function traceQuery({ id, field }: TraceRef): string {
  const text = JSON.stringify(id);
  return field === null ? `trace:${text}` : `trace:${text} OR data.${field}:${text}`;
}

export function traceFieldNamed(name: string | undefined): TraceField | null {
  return TRACE_FIELDS.find((field) => field === name) ?? null;
}
