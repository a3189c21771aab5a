import {
  Bell,
  BookOpen,
  CircleUserRound,
  Command as CommandShape,
  FlaskConical,
  Gauge,
  GitCompareArrows,
  Layers,
  LayoutDashboard,
  LogOut,
  Menu as MenuShape,
  ScrollText,
  Settings,
  Shapes,
} from "lucide";
import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";
import { clockAhead } from "../api/service-clock.ts";
import { askToLeave } from "../lib/leaving.ts";
import { shownWorkspace } from "../model/shown-workspace.ts";
import { workspaces } from "../model/workspaces.ts";
import { signInFrom } from "../session/next-path.ts";
import { signOut, user } from "../session/session.ts";
import { IconButton } from "./button.tsx";
import { HelpMenu, helpLinks, KeysDialog } from "./help-menu.tsx";
import icon from "./icon.svg";
import { Icon, type IconShape } from "./icon.tsx";
import { Menu } from "./menu.tsx";
import { isPaletteOpen, openPalette } from "./palette/palette.tsx";
import { PendingSignOutNotice } from "./pending-sign-out-notice.tsx";
import css from "./shell.module.css";
import { type GoKey, useGoKeys } from "./shortcuts/go-keys.ts";
import { shortcutsOn } from "./shortcuts/shortcuts.ts";
import { AppearanceMenu, appearanceItems } from "./theme.tsx";
import { lazyModule, useLazy } from "./use-lazy.ts";
import { useMedia } from "./use-media.ts";

const CLOCK = lazyModule(() => import("./clock-notice.tsx"));

/** Windows in which the bar has a menu for what belongs to no workspace. The style sheet has the same width. */
const PHONE = "(width < 600px)";

/** Navigation and main element of every page: a rail for a signed-in user, otherwise a bar. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path, query } = useLocation();
  const workspaceId = shownWorkspace(path);
  const isSignedIn = Boolean(user.value);
  const isPhone = useMedia(PHONE);
  const clock = useLazy(CLOCK, clockAhead.value !== 0);
  return (
    <div class={css.frame} data-rail={isSignedIn}>
      <a class={css.skip} href="#main">
        Skip to content
      </a>
      <header class={css.header}>
        <a class={css.brand} href="/" data-tooltip={isSignedIn ? "Home" : undefined} data-tooltip-side="right">
          <img src={icon} alt="" />
          <span class={css.name}>Taffrail</span>
        </a>
        {workspaceId === null ? null : <WorkspaceNav workspaceId={workspaceId} path={path} query={query} />}
        <nav class={`${css.nav} ${css.end}`} aria-label="Taffrail">
          {isPhone && isSignedIn ? <PhoneMenu /> : <OwnLinks path={path} query={query} />}
        </nav>
        {isSignedIn ? <KeysDialog /> : null}
      </header>
      <div class={css.page}>
        <PendingSignOutNotice />
        {clock === null ? null : <clock.ClockNotice />}
        <main class={css.main} id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

interface OwnLinksProps {
  path: string;
  query: Record<string, string>;
}

/** What belongs to no workspace. */
function OwnLinks({ path, query }: OwnLinksProps) {
  return (
    <>
      <NavLink to="/playground" label="Playground" shape={FlaskConical} isCurrent={path === "/playground"} />
      {user.value ? <HelpMenu /> : <NavLink to="/docs" label="API" shape={BookOpen} isCurrent={path === "/docs"} />}
      <span class={css.commands}>
        <IconButton icon={CommandShape} label="Commands" shortcut="Ctrl K" tooltipSide="right" onClick={openPalette} />
      </span>
      <AppearanceMenu />
      {user.value ? (
        <>
          <NavLink to="/auth/account" label="Account" shape={CircleUserRound} isCurrent={path === "/auth/account"} />
          <IconButton
            icon={LogOut}
            label="Sign out"
            tooltipSide="right"
            onClick={() => askToLeave(() => void signOut())}
          />
        </>
      ) : (
        <a class={css.link} href={signInFrom(path, query)} aria-current={path === "/login" ? "page" : undefined}>
          Sign in
        </a>
      )}
    </>
  );
}

/** The same on a phone, where the bar has room for the pages of a workspace alone. */
function PhoneMenu() {
  const { route } = useLocation();
  return (
    <Menu
      label="Menu"
      icon={MenuShape}
      iconOnly
      look="quiet"
      placement="bottom-end"
      items={[
        { label: "Commands", icon: CommandShape, shortcut: "Ctrl K", onSelect: openPalette },
        { label: "Account", icon: CircleUserRound, onSelect: () => route("/auth/account") },
        { label: "Playground", icon: FlaskConical, onSelect: () => route("/playground") },
        ...helpLinks(route),
        ...appearanceItems().map((item, at) => ({ ...item, startsGroup: at === 0 || item.startsGroup === true })),
        { label: "Sign out", icon: LogOut, startsGroup: true, onSelect: () => askToLeave(() => void signOut()) },
      ]}
    />
  );
}

/** The project whose logs were shown last, as a part of their path; empty for all projects. */
let lastProject = { base: "", project: "" };

/** Pages of one query. Each leads to the others with the same query and time range. */
const QUERY_PAGES = [
  { part: "", label: "Logs", shape: ScrollText, goKey: "l" },
  { part: "/patterns", label: "Patterns", shape: Shapes, goKey: "p" },
  { part: "/compare", label: "Compare", shape: GitCompareArrows, goKey: "c" },
] as const;
/** Their paths below the workspace: project and page. */
const QUERY_PATH = /^(\/p\/[^/]+)?(\/patterns|\/compare)?$/;
/** Their common parameters. */
const ASKED: readonly string[] = ["q", "range", "from", "to"];

function WorkspaceNav({ workspaceId, path, query }: OwnLinksProps & { workspaceId: string }) {
  const { route } = useLocation();
  const base = `/w/${workspaceId}`;
  const shown = path.startsWith(base) ? QUERY_PATH.exec(path.slice(base.length)) : null;
  if (shown !== null) lastProject = { base, project: shown[1] ?? "" };
  const project = lastProject.base === base ? lastProject.project : "";
  const current = shown === null ? null : (shown[2] ?? "");
  const params = Object.entries(query).filter(([name]) => current !== null && ASKED.includes(name));
  const asked = params.length === 0 ? "" : `?${new URLSearchParams(params)}`;
  const isBelow = (part: string): boolean => path.startsWith(`${base}${part}`);
  const links: NavLinkProps[] = [
    { to: `${base}/overview`, label: "Overview", shape: Gauge, isCurrent: isBelow("/overview"), goKey: "o" },
    ...QUERY_PAGES.map(({ part, ...page }) => ({
      ...page,
      to: `${base}${project}${part}${asked}`,
      isCurrent: part === current || (part === "" && isBelow("/trace/")),
    })),
    { to: `${base}/boards`, label: "Boards", shape: LayoutDashboard, isCurrent: isBelow("/boards"), goKey: "b" },
    { to: `${base}/alerts`, label: "Alerts", shape: Bell, isCurrent: isBelow("/alerts"), goKey: "a" },
    { to: `${base}/settings`, label: "Settings", shape: Settings, isCurrent: isBelow("/settings"), goKey: "s" },
  ];
  useGoKeys((pressed) => {
    const link = isPaletteOpen() ? undefined : links.find(({ goKey }) => goKey === pressed);
    if (link !== undefined) route(link.to);
    return link !== undefined;
  });
  return (
    <nav class={css.nav} aria-label="Workspace">
      <WorkspaceMenu workspaceId={workspaceId} />
      {links.map((link) => (
        <NavLink key={link.label} {...link} />
      ))}
    </nav>
  );
}

/** The current workspace as a letter; a choice of the others. */
function WorkspaceMenu({ workspaceId }: { workspaceId: string }) {
  const { route } = useLocation();
  const known = workspaces.value ?? [];
  const name = known.find(({ id }) => id === workspaceId)?.name ?? "";
  return (
    <Menu
      label={`Workspace ${name}`.trimEnd()}
      face={
        <>
          <span class={css.avatar} data-letter={[...name][0]?.toUpperCase()} />
          <span class={css.label}>{name}</span>
        </>
      }
      look="quiet"
      tooltipSide="right"
      items={[
        ...known.map(({ id, name }) => ({
          id,
          label: name,
          isChecked: id === workspaceId,
          onSelect: () => route(`/w/${id}`),
        })),
        { label: "All workspaces", icon: Layers, startsGroup: known.length > 0, onSelect: () => route("/") },
      ]}
    />
  );
}

interface NavLinkProps {
  to: string;
  label: string;
  shape: IconShape;
  isCurrent: boolean;
  /** Key that opens it after `g`. */
  goKey?: GoKey;
}

/** A link with an icon: in a narrow rail the icon alone is visible, and the tooltip names it. */
function NavLink({ to, label, shape, isCurrent, goKey }: NavLinkProps) {
  return (
    <a
      class={css.link}
      href={to}
      aria-current={isCurrent ? "page" : undefined}
      data-tooltip={label}
      data-tooltip-side="right"
      data-shortcut-key={goKey === undefined || !shortcutsOn.value ? undefined : `g ${goKey}`}
    >
      <Icon shape={shape} size={18} />
      <span class={css.label}>{label}</span>
    </a>
  );
}
