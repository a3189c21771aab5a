import { useLocation } from "preact-iso";
import { visible } from "../../lib/visible.ts";
import type { LogEntry, Project } from "../../model/types.ts";
import { type Command, useCommands } from "../../ui/palette/commands.ts";
import { SHORTCUTS, type ShortcutKey } from "../../ui/shortcuts/shortcut-keys.ts";
import { traceLink } from "../investigate/links.ts";
import { traceOf } from "../investigate/trace-ids.ts";
import { type ActionDialog, newAlertPath } from "./actions/actions.tsx";
import { loadedFields } from "./fields/loaded-fields.ts";
import { entryCurl, jsonOf, textOf } from "./results/copy-entry.ts";
import { copyText } from "./results/copy-text.ts";
import { type Column, withColumn } from "./view/columns.ts";
import { language } from "./view/language.ts";
import { PRESETS } from "./view/range.ts";
import { entryLink } from "./view/shown-entry.ts";
import { type View, viewSearch, withQuery } from "./view/view.ts";

interface ExplorerCommandsProps {
  acts: Record<ShortcutKey, () => void>;
  view: View;
  change: (change: (view: View) => View) => void;
  workspaceId: string;
  projects: readonly Project[];
  projectId: string | null;
  entries: readonly LogEntry[];
  onContext: (entry: LogEntry) => void;
  onColumns: (columns: readonly Column[]) => void;
  onZoomOut: () => void;
  onDialog: (dialog: ActionDialog) => void;
  /** Whether the other pages of the workspace are there: a guest has the explorer alone. */
  hasPages: boolean;
}

/** Words that find a shortcut, beside its own. */
const WORDS: Partial<Record<ShortcutKey, string>> = { t: "time zone clock date", "?": "docs documentation" };

/** Pipes that the palette adds to a query. */
const PIPES = [
  ["Patterns of messages", "| patterns"],
  ["Patterns that are new since yesterday", "| patterns 20 vs 1d"],
  ["Count by level", "| count by level"],
  ["Chart by level", "| count by level, bin(5m)"],
  ["All fields with their values", "| facets 5"],
] as const;

/** Offers everything that the explorer can do in the command palette. */
export function ExplorerCommands({ acts, view, change, workspaceId, projects, ...rest }: ExplorerCommandsProps): null {
  const { query: parameters, route } = useLocation();
  const { projectId, entries, onContext, onColumns, onZoomOut, onDialog, hasPages } = rest;
  const fields = (loadedFields(workspaceId, projectId)?.fields.fields ?? []).map(({ name }) => name);
  const columns = view.columns ?? [];
  const entryCommands = (entry: LogEntry | undefined): Command[] => {
    if (entry === undefined) return [];
    const trace = hasPages ? traceOf(entry) : null;
    const all: (Omit<Command, "group"> | null)[] = [
      { label: "Copy as text", shortcut: "y", run: () => void copyText(textOf(entry), "Copied as text") },
      { label: "Copy as JSON", run: () => void copyText(jsonOf(entry), "Copied as JSON") },
      { label: "Copy as curl", run: () => void copyText(entryCurl(location.origin, entry), "Copied as curl") },
      {
        label: "Copy link",
        run: () => void copyText(entryLink(location.origin, workspaceId, entry), "Copied the link"),
      },
      { label: "Show in context", shortcut: "c", run: () => onContext(entry) },
      trace && { label: "Trace", run: () => route(traceLink(workspaceId, trace, entry.id)) },
    ];
    return all.flatMap((command) => (command === null ? [] : [{ ...command, group: "Open entry" }]));
  };
  useCommands((): Command[] => [
    ...entryCommands(entries.find(({ id }) => id === parameters.open)),
    ...SHORTCUTS.map(({ key, does }) => ({
      label: does,
      words: WORDS[key] ?? "",
      group: "Explorer",
      shortcut: key,
      run: acts[key],
    })),
    { label: "Download", group: "Explorer", run: () => onDialog("download") },
    ...(hasPages
      ? [
          { label: "Save to board", words: "panel chart", group: "Explorer", run: () => onDialog("board") },
          {
            label: "Create alert from this query",
            words: "new",
            group: "Explorer",
            run: () => route(newAlertPath({ workspaceId, projectId, view })),
          },
        ]
      : []),
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
    { label: "Zoom out", group: "Time", run: onZoomOut },
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
    ...fields.map((name) => ({
      label: `Group by ${visible(name)}`,
      group: "Query",
      needsText: true,
      run: () => change((before) => withQuery(before, `${filterOf(before)} | top 10 by ${name}`)),
    })),
    ...fields.map((name) => ({
      label: `${columns.some(({ field }) => field === name) ? "Remove" : "Add"} column ${visible(name)}`,
      words: "columns",
      group: "Columns",
      needsText: true,
      run: () => onColumns(withColumn(columns, name)),
    })),
    ...(columns.length === 0
      ? []
      : [{ label: "Remove all columns", group: "Columns", needsText: true, run: () => onColumns([]) }]),
  ]);
  return null;
}

function filterOf({ query = "" }: View): string {
  return language()?.withPipes(query, "") ?? "*";
}
