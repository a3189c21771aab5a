import { useLocation } from "preact-iso";
import type { Project } from "../../model/types.ts";
import { type Command, useCommands } from "../../ui/palette/commands.ts";
import { SHORTCUTS, type ShortcutKey } from "../../ui/shortcuts/shortcut-keys.ts";
import { language } from "./view/language.ts";
import { PRESETS, type Times, zoomedOut } from "./view/range.ts";
import { type View, viewSearch, withQuery } from "./view/view.ts";

interface ExplorerCommandsProps {
  acts: Record<ShortcutKey, () => void>;
  view: View;
  times: Times;
  change: (change: (view: View) => View) => void;
  workspaceId: string;
  projects: readonly Project[];
  onDownload: () => void;
}

/** Pipes that the palette adds to a query. */
const PIPES = [
  ["Patterns of messages", "| patterns"],
  ["Patterns that are new since yesterday", "| patterns 20 vs 1d"],
  ["Count by level", "| count by level"],
  ["Chart by level", "| count by level, bin(5m)"],
  ["All fields with their values", "| facets 5"],
] as const;

/** Offers everything that the explorer can do in the command palette. */
export function ExplorerCommands({
  acts,
  view,
  times,
  change,
  workspaceId,
  projects,
  onDownload,
}: ExplorerCommandsProps): null {
  const { route } = useLocation();
  useCommands((): Command[] => [
    ...SHORTCUTS.map(({ key, does }) => ({ label: does, group: "Explorer", shortcut: key, run: acts[key] })),
    { label: "Download", group: "Explorer", run: onDownload },
    {
      label: view.order === "desc" ? "Oldest first" : "Newest first",
      group: "Explorer",
      run: () => change((before) => ({ ...before, order: before.order === "desc" ? "asc" : "desc" })),
    },
    { label: "Clear query", group: "Explorer", run: () => change((before) => withQuery(before, "")) },
    ...PIPES.map(([label, pipe]) => ({
      label,
      group: "Query",
      run: () => change((before) => withQuery(before, `${filterOf(before)} ${pipe}`)),
    })),
    ...PRESETS.map(({ name, label }) => ({
      label,
      group: "Time",
      run: () => change((before) => ({ ...before, range: { kind: "last", preset: name } })),
    })),
    { label: "All time", group: "Time", run: () => change((before) => ({ ...before, range: { kind: "all" } })) },
    {
      label: "Zoom out",
      group: "Time",
      run: () => change((before) => ({ ...before, range: zoomedOut(before.range, times, Date.now()) })),
    },
    ...projects.map(({ id, name }) => ({
      id,
      label: `Project ${name}`,
      group: "Project",
      run: () => route(`/w/${workspaceId}/p/${id}${viewSearch({ ...view, live: false })}`),
    })),
    {
      label: "All projects",
      group: "Project",
      run: () => route(`/w/${workspaceId}${viewSearch({ ...view, live: false })}`),
    },
  ]);
  return null;
}

function filterOf({ query = "" }: View): string {
  return language()?.withPipes(query, "") ?? "*";
}
