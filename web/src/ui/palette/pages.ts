import { SETTINGS_PAGES } from "../../model/settings-pages.ts";
import { shownProject, shownWorkspace } from "../../model/shown-workspace.ts";
import { workspaces } from "../../model/workspaces.ts";
import { signOut, user } from "../../session/session.ts";
import { helpCommands } from "../help-menu.tsx";
import { appearanceCommands } from "../theme.tsx";
import type { Command } from "./commands.ts";

/** Commands of every page: where to go, and how the console looks. */
export function commonCommands(path: string, route: (path: string) => void): Command[] {
  const workspaceId = shownWorkspace(path);
  const project = shownProject(path);
  const ofUser = user.value === null ? [] : [...pages(workspaceId, project, route), ...helpCommands(route)];
  return [...ofUser, ...appearanceCommands()];
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
      run: () => route(to),
    })),
    ...(workspaces.value ?? []).map(({ id, name }) => ({
      id,
      label: `Workspace ${name}`,
      group: "Go to",
      run: () => route(`/w/${id}`),
    })),
    ...others.map(([label, to]) => ({ label, group: "Go to", run: () => route(to) })),
    { label: "Sign out", group: "Account", run: () => void signOut() },
  ];
}
