import { useState } from "preact/hooks";
import { type Action, useAction } from "../../lib/action.ts";
import type { LogEntry } from "../../model/types.ts";
import type { FilterPatch } from "../explorer/filters.ts";
import { type Call, type CallAnswer, member } from "./call.ts";
import type { Sandbox } from "./sandbox.ts";
import { FIRST_QUERY, type Found, queryText } from "./search.tsx";

/** Neighbours requested on each side of an entry. */
const AROUND = 10;

/** Sends a call with the current key and stores the budget of reads from its response. */
export type Read = (call: (sandbox: Sandbox) => Call) => Promise<CallAnswer>;

export interface SearchState {
  text: string;
  setText: (text: string) => void;
  found: Found | null;
  answer: CallAnswer | null;
  running: Action<[cursor: string | null]>;
  looking: Action<[entry: LogEntry]>;
  /** Adds a filter to the query. */
  patch: (filters: FilterPatch) => void;
}

/** State of the query box. Each call costs one read. */
export function useSearch(read: Read): SearchState {
  const [text, setText] = useState(FIRST_QUERY);
  const [found, setFound] = useState<Found | null>(null);
  const [answer, setAnswer] = useState<CallAnswer | null>(null);

  const running = useAction(async (cursor: string | null) => {
    const got = await read((sandbox) => queryCall(sandbox, cursor === null ? text : withCursor(text, cursor)));
    setAnswer(got);
    const logs = member(got.body, "data", "logs");
    if (!Array.isArray(logs)) return;
    const next = member(got.body, "data", "pagination", "nextCursor");
    setFound((before) => ({
      title: "Found",
      search: searchOf(text),
      entries: cursor === null ? logs : [...(before?.entries ?? []), ...logs],
      cursor: typeof next === "string" ? next : null,
    }));
  });

  const looking = useAction(async (entry: LogEntry) => {
    const got = await read((sandbox) => contextCall(sandbox, entry));
    setAnswer(got);
    const [before, after] = [member(got.body, "data", "before"), member(got.body, "data", "after")];
    if (!Array.isArray(before) || !Array.isArray(after)) return;
    setFound({
      search: "",
      title: `Around entry ${entry.seq}, newest first`,
      entries: [...before, entry, ...after].reverse(),
      cursor: null,
    });
  });

  const patch = (filters: FilterPatch): void => setText((before) => queryText(merged(filtersOf(before), filters)));

  return { text, setText, found, answer, running, looking, patch };
}

export function queryCall({ apiKey }: Sandbox, body: string): Call {
  return { method: "POST", path: "/logger/query", token: apiKey, body, contentType: "application/json" };
}

function contextCall({ projectId, apiKey }: Sandbox, { id }: LogEntry): Call {
  const path = `/logger/${projectId}/log/${encodeURIComponent(id)}?before=${AROUND}&after=${AROUND}`;
  return { method: "GET", path, token: apiKey };
}

/** Continues a query after the entries found so far. */
function withCursor(text: string, cursor: string): string {
  const query: unknown = JSON.parse(text);
  const limit = member(query, "pagination", "limit");
  return JSON.stringify({ ...object(query), pagination: { ...(limit === undefined ? {} : { limit }), cursor } });
}

function searchOf(text: string): string {
  const { search } = filtersOf(text);
  return typeof search === "string" ? search : "";
}

function filtersOf(text: string): Record<string, unknown> {
  try {
    return object(member(JSON.parse(text), "filters"));
  } catch {
    return {};
  }
}

function merged(before: Record<string, unknown>, { data, ...rest }: FilterPatch): object {
  return { ...before, ...rest, ...(data ? { data: { ...object(before.data), ...data } } : {}) };
}

function object(value: unknown): Record<string, unknown> {
  // SAFETY: any object may be read by name; its members are unknown.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
