import { useEffect, useState } from "preact/hooks";
import type { LazyModule } from "../use-lazy.ts";
import type { Command } from "./commands.ts";

/** Something with a name that a member gave it, and its page. */
export interface Named {
  id: string;
  group: "Boards" | "Views" | "Projects" | "Alerts" | "Members";
  name: string;
  to: string;
}

/** What loads them, which the pages have. */
export type NamedSource = LazyModule<{
  namedOf: (workspaceId: string, signal: AbortSignal) => Promise<Named[]>[];
}>;

/** Milliseconds for which a list counts as fresh. */
const FRESH_MS = 60_000;

let last: { workspaceId: string; at: number; items: readonly Named[] } | null = null;

/**
 * Commands that open boards, views, projects, alerts and members by their names. They are loaded when `isWanted`, each kind for itself:
 * one that cannot be loaded is left out.
 */
export function useNamedCommands(
  source: NamedSource,
  workspaceId: string | null,
  isWanted: boolean,
  route: (path: string) => void,
): Command[] {
  const known = last?.workspaceId === workspaceId ? last.items : [];
  const [items, setItems] = useState(known);
  useEffect(() => {
    if (!isWanted || workspaceId === null) return;
    if (last?.workspaceId === workspaceId && Date.now() - last.at < FRESH_MS) return;
    const work = new AbortController();
    let found: readonly Named[] = [];
    const load = async (): Promise<void> => {
      const { namedOf } = await source.load();
      if (work.signal.aborted) return;
      const kinds = namedOf(workspaceId, work.signal).map(async (kind) => {
        const loaded = await kind.catch((): Named[] => []);
        if (work.signal.aborted) return;
        found = [...found, ...loaded];
        setItems(found);
      });
      await Promise.all(kinds);
      if (!work.signal.aborted) last = { workspaceId, at: Date.now(), items: found };
    };
    load().catch(() => undefined);
    return () => work.abort();
  }, [workspaceId, isWanted]);
  return items.map(({ id, group, name, to }) => ({ id, group, label: name, run: () => route(to) }));
}
