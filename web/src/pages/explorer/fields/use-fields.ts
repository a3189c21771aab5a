import { useEffect, useRef } from "preact/hooks";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import { authorized } from "../../../session/session.ts";
import { noteFields } from "../../investigate/releases/version-fields.ts";
import type { Times } from "../view/range.ts";
import { type Fields, fieldsOf, type TableAnswer, TOP_VALUES } from "./field-facts.ts";
import { noteLoadedFields } from "./loaded-fields.ts";

/** What is searched: the same entries as those of the list. */
export interface SearchScope {
  workspaceId: string;
  projectId: string | null;
  times: Times;
}

/** Asks for the table of a query, beside the entries that the list has of it. */
export async function tableOf(
  { workspaceId, projectId, times: { from, to } }: SearchScope,
  query: string,
  signal: AbortSignal,
): Promise<TableAnswer> {
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const body = { query, ...range, ...(projectId === null ? {} : { projectId }) };
  return (await authorized<TableAnswer>("/logger/search", { workspaceId, body, signal, followsSearch: true })).data;
}

/** When something is counted. */
export interface CountRound {
  /** A new key counts again; `null` waits. */
  key: string | null;
  /** Another number counts the same again, once a count in flight has ended: a slow service would never answer. */
  recounts: number;
}

interface ShownFields extends Loaded<Fields | null> {
  /** Whether the fields are those of the query before. */
  isStale: boolean;
}

/**
 * Loads the fields of what a filter finds, with their values. The fields of the query before stay until those of the next one
 * arrive.
 */
export function useFields(scope: SearchScope, filter: string, { key, recounts }: CountRound): ShownFields {
  const begun = useRef<string | null>(null);
  if (key !== null) begun.current = key;
  const loaded = useLoad(begun.current, async (signal): Promise<Fields | null> => {
    const found = fieldsOf(await tableOf(scope, `${filter} | facets ${TOP_VALUES}`, signal));
    noteFields(scope, found.fields);
    noteLoadedFields({ scope, filter, fields: found });
    return found;
  });
  useRecounts(loaded, recounts);
  const asked = askedBy(scope, filter);
  const before = useRef<{ asked: string; fields: Fields | null }>({ asked, fields: null });
  if (loaded.data !== null && key !== null) before.current = { asked, fields: loaded.data };
  const { fields } = before.current;
  return { ...loaded, data: fields, isStale: fields !== null && before.current.asked !== asked };
}

function useRecounts({ busy, refresh }: Pick<Loaded<never>, "busy" | "refresh">, recounts: number): void {
  const done = useRef(recounts);
  useEffect(() => {
    if (done.current === recounts) return;
    if (!busy) done.current = recounts;
    // Also while it is busy, as the call in flight may hang.
    refresh();
  }, [recounts, busy]);
}

/** What is counted. A live view counts the same again and again. */
function askedBy({ projectId, times: { from, to } }: SearchScope, query: string): string {
  return JSON.stringify([projectId, from, to, query]);
}

interface ShownCount<T> extends Loaded<T | null> {
  /** Whether the data are those of the query before. */
  isStale: boolean;
}

/**
 * Loads what a further query counts for an open field. What the query before counted stays until the answer arrives.
 * @param query empty: none is needed
 */
export function useCounted<T>(
  scope: SearchScope,
  round: CountRound,
  query: string,
  load: (signal: AbortSignal) => Promise<T | null>,
): ShownCount<T> {
  const key = useRef<string | null>(null);
  if (round.key !== null) key.current = query === "" ? null : `${round.key} ${query}`;
  const loaded = useLoad(key.current, load);
  useRecounts(loaded, round.recounts);
  const asked = askedBy(scope, query);
  const before = useRef<{ asked: string; data: T | null }>({ asked, data: null });
  // While it waits, the data are those of the query before.
  if (round.key !== null && (loaded.data !== null || key.current === null))
    before.current = { asked, data: loaded.data };
  const { data } = before.current;
  return { ...loaded, data, isStale: data !== null && before.current.asked !== asked };
}
