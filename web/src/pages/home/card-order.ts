import { useEffect, useRef, useState } from "preact/hooks";
import type { Project, Workspace } from "../../model/types.ts";
import { loadProjects } from "../../model/workspaces.ts";
import { withEntriesFirst } from "./entries-first.ts";

/** Workspaces whose projects are loaded immediately. Others load on demand, and stay in the order of the list behind those with entries. */
const OPENED = 10;
/** Milliseconds for which the cards wait for the projects, by which they are in order. */
const WAIT_MS = 1000;

export interface OrderedCard {
  workspace: Workspace;
  isOpen: boolean;
  /** The load of its projects that has begun already. */
  first: Promise<Project[]> | undefined;
}

/** Returns the cards in order, in which nothing moves later; `null` until the order is known. */
export function useCards(workspaces: readonly Workspace[] | null): readonly OrderedCard[] | null {
  const [order, setOrder] = useState<readonly string[] | null>(null);
  const first = useRef(new Map<string, Promise<Project[]>>());
  const isKnown = workspaces !== null;
  useEffect(() => {
    if (workspaces === null) return;
    const loads = first.current;
    const withEntries = new Set<string>();
    const decide = (): void => setOrder((before) => before ?? withEntriesFirst(workspaces, withEntries));
    const waits = workspaces.slice(0, OPENED).map(({ id }) => {
      const load = loadProjects(id);
      loads.set(id, load);
      return load.then(
        (projects) => {
          if (projects.some(({ lastSeq }) => lastSeq > 0)) withEntries.add(id);
        },
        // The card has the same load, says why it failed, and loads again.
        () => undefined,
      );
    });
    const timer = setTimeout(decide, WAIT_MS);
    void Promise.all(waits).then(decide);
    return () => clearTimeout(timer);
  }, [isKnown]);
  if (workspaces === null || order === null) return null;
  const place = ({ id }: Workspace): number => (order.includes(id) ? order.indexOf(id) : order.length);
  return workspaces
    .map((workspace, at) => ({ workspace, isOpen: at < OPENED, first: first.current.get(workspace.id) }))
    .sort((a, b) => place(a.workspace) - place(b.workspace));
}
