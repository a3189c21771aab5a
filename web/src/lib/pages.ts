import { useState } from "preact/hooks";
import type { ApiFailure } from "../api/failure.ts";
import type { Page } from "../model/types.ts";
import { authorized } from "../session/session.ts";
import { type Action, useAction } from "./action.ts";
import { useLoad } from "./load.ts";

/** A list that is loaded a page at a time. */
export interface Pages<T> {
  /** Items of the pages so far; `null` until the first page is loaded. */
  items: readonly T[] | null;
  busy: boolean;
  /** Why the first page is missing. */
  failure: ApiFailure | null;
  /** Starts again at the first page. */
  reload: () => void;
  /** Loads the page after those so far; `null` after the last one. A page can be empty without being the last. */
  more: Action<[]> | null;
}

/**
 * Loads a list by its cursors, and starts again when `key` changes.
 * @param pathOf path of a page, for a query with `limit` and `cursor` that it may extend
 * @param workspaceId workspace of a path that does not name one
 */
export function usePages<T>(
  key: string,
  limit: number,
  pathOf: (query: URLSearchParams) => string,
  workspaceId?: string,
): Pages<T> {
  /** Pages behind a first one. Those of another first page may belong to another key, or lack what is new. */
  const [older, setOlder] = useState<{ first: Page<T> | null; pages: readonly Page<T>[] }>({ first: null, pages: [] });
  const pageAt = async (cursor: string | null, signal?: AbortSignal): Promise<Page<T>> => {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
    const workspace = workspaceId === undefined ? {} : { workspaceId };
    return (await authorized<Page<T>>(pathOf(query), { ...workspace, ...(signal ? { signal } : {}) })).data;
  };
  const first = useLoad(key, (signal) => pageAt(null, signal));
  const behind = older.first === first.data ? older.pages : [];
  const pages = first.data === null ? [] : [first.data, ...behind];
  const next = pages.at(-1)?.nextCursor ?? null;
  const more = useAction(async () => {
    const page = await pageAt(next);
    setOlder({ first: first.data, pages: [...behind, page] });
  });
  return {
    items: first.data === null ? null : pages.flatMap((page) => page.items),
    busy: first.busy,
    failure: first.failure,
    reload: first.reload,
    more: next === null ? null : more,
  };
}
