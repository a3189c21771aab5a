import { workspaces } from "../../model/workspaces.ts";
import { signOut, user } from "../../session/session.ts";
import { appearanceCommands } from "../theme.tsx";
import type { Command } from "./commands.ts";

/** Commands of every page: where to go, and how the console looks. */
export function commonCommands(path: string, route: (path: string) => void): Command[] {
  const workspaceId = /^\/w\/([^/]+)/.exec(path)?.[1] ?? null;
  return [...(user.value === null ? [] : pages(workspaceId, route)), ...appearanceCommands()];
}

/** Pages that the palette opens. */
function pages(workspaceId: string | null, route: (path: string) => void): Command[] {
  const base = `/w/${workspaceId}`;
  const ofWorkspace: [string, string][] = [
    ["Logs", base],
    ["Boards", `${base}/boards`],
    ["Alerts", `${base}/alerts`],
    ["Overview", `${base}/overview`],
    ...SECTIONS.map((name): [string, string] => [`Settings: ${name}`, `${base}/settings/${name}`]),
  ];
  const others: [string, string][] = [
    ["Home", "/"],
    ["Playground", "/playground"],
    ["Account", "/auth/account"],
  ];
  return [
    ...(workspaceId === null ? [] : ofWorkspace).map(([label, to]) => ({
      label,
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

/** Sections of the settings; `docs/console.md` has the list. */
const SECTIONS = [
  "general",
  "projects",
  "keys",
  "members",
  "agents",
  "limits",
  "violations",
  "missing",
  "destinations",
  "notifications",
  "usage",
  "export",
  "audit",
] as const;
