import { may } from "../../../../src/workspace/permissions.ts";
import { askToLeave } from "../../lib/leaving.ts";
import { BROWSER_ZONE, isTwelveHour, localeCountsTo12, setTwelveHour, setZone, zoneLabel } from "../../lib/zone.ts";
import { SETTINGS_PAGES } from "../../model/settings-pages.ts";
import { shownProject, shownWorkspace } from "../../model/shown-workspace.ts";
import { knownWorkspace, workspaces } from "../../model/workspaces.ts";
import { signOut, user } from "../../session/session.ts";
import { helpCommands } from "../help-menu.tsx";
import { goKeysOf } from "../shortcuts/go-keys.ts";
import { setShortcutsOn, shortcutsOn } from "../shortcuts/shortcuts.ts";
import { appearanceCommands } from "../theme.tsx";
import type { Command } from "./commands.ts";

/** Commands of every page: where to go, and how the console looks. */
export function commonCommands(path: string, route: (path: string) => void): Command[] {
  const workspaceId = shownWorkspace(path);
  const project = shownProject(path);
  const ofUser = user.value === null ? [] : [...pages(workspaceId, project, route), ...helpCommands(route)];
  return [...ofUser, ...appearanceCommands(), ...zoneCommands(), ...clockCommands(), shortcutsCommand()];
}

/** Zones in which times are shown and read. The explorer's choice of times has the others. */
function zoneCommands(): Command[] {
  return [...new Set([BROWSER_ZONE, "UTC"])].map((name) => ({
    label: `Time zone ${zoneLabel(name)}`,
    words: name,
    group: "Appearance",
    run: () => setZone(name),
  }));
}

/** The clock, where the locale has both. */
function clockCommands(): Command[] {
  if (!localeCountsTo12()) return [];
  const is12 = isTwelveHour.value;
  return [
    {
      label: is12 ? "24-hour clock" : "12-hour clock",
      words: "time format am pm",
      group: "Appearance",
      run: () => setTwelveHour(!is12),
    },
  ];
}

function shortcutsCommand(): Command {
  const isOn = shortcutsOn.value;
  return {
    label: `Turn ${isOn ? "off" : "on"} single-key shortcuts`,
    words: "keyboard keys",
    group: "Help",
    run: () => setShortcutsOn(!isOn),
  };
}

/** What a member of a workspace may add. */
function additions(workspaceId: string | null, project: string, route: (path: string) => void): Command[] {
  const role = knownWorkspace(workspaceId)?.role;
  const all = [
    { action: "board.create", label: "New board", to: `/w/${workspaceId}/boards?new=1` },
    {
      action: "alert.create",
      label: "New alert",
      to: `/w/${workspaceId}/alerts/new${project === "" ? "" : `?project=${project.slice("/p/".length)}`}`,
    },
  ] as const;
  return all
    .filter(({ action }) => role !== undefined && may(role, action))
    .map(({ label, to }) => ({ label, words: "create add", group: "Create", run: () => route(to) }));
}

/**
 * Pages that the palette opens.
 * @param project part of the path for the project that is shown; empty for all projects
 */
function pages(workspaceId: string | null, project: string, route: (path: string) => void): Command[] {
  const base = `/w/${workspaceId}`;
  const logs = `${base}${project}`;
  const ofWorkspace: [label: string, to: string, words?: string][] = [
    ["Logs", base],
    ["Boards", `${base}/boards`, "dashboards charts"],
    ["Alerts", `${base}/alerts`, "rules mute"],
    ["Overview", `${base}/overview`],
    ["Patterns", `${logs}/patterns`, "messages new"],
    ["Compare", `${logs}/compare`, "release before after"],
    ["Send the first entry", `${base}/start`, "get started install client library"],
    ["Rules as a file", `${base}/alerts/file`, "alerts yaml export import apply"],
    ["Traces: entries of a trace", `${logs}?${new URLSearchParams({ q: "trace:*" })}`, "spans timeline"],
    ...SETTINGS_PAGES.map(({ slug, title, words }): [string, string, string] => [
      `Settings: ${title}`,
      `${base}/settings/${slug}`,
      words,
    ]),
  ];
  const others: [string, string][] = [
    ["Home", "/"],
    ["Playground", "/playground"],
    ["Account", "/auth/account"],
  ];
  return [
    ...(workspaceId === null ? [] : ofWorkspace).map(([label, to, words = ""]) => ({
      label,
      words,
      group: "Go to",
      // The settings open at their first page.
      ...goKeysOf(label === `Settings: ${SETTINGS_PAGES[0].title}` ? "Settings" : label),
      run: () => route(to),
    })),
    ...(workspaces.value ?? []).map(({ id, name }) => ({
      id,
      label: `Workspace ${name}`,
      group: "Go to",
      run: () => route(`/w/${id}`),
    })),
    ...additions(workspaceId, project, route),
    ...others.map(([label, to]) => ({ label, group: "Go to", run: () => route(to) })),
    { label: "Sign out", group: "Account", run: () => askToLeave(() => void signOut()) },
  ];
}
