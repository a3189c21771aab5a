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
import { workspaces } from "../model/workspaces.ts";
import { signInFrom } from "../session/next-path.ts";
import { signOut, user } from "../session/session.ts";
import { IconButton } from "./button.tsx";
import icon from "./icon.svg";
import { Icon, type IconShape } from "./icon.tsx";
import { Menu } from "./menu.tsx";
import { openPalette } from "./palette/palette.tsx";
import { PendingSignOutNotice } from "./pending-sign-out-notice.tsx";
import css from "./shell.module.css";
import { AppearanceMenu, appearanceItems } from "./theme.tsx";
import { useMedia } from "./use-media.ts";

/** Windows in which the bar has a menu for what belongs to no workspace. The style sheet has the same width. */
const PHONE = "(width < 600px)";

/** Navigation and main element of every page: a rail for a signed-in user, otherwise a bar. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path, query } = useLocation();
  const workspaceId = /^\/w\/([^/]+)/.exec(path)?.[1] ?? null;
  const isSignedIn = Boolean(user.value);
  const isPhone = useMedia(PHONE);
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
        {workspaceId !== null && isSignedIn ? (
          <WorkspaceNav workspaceId={workspaceId} path={path} query={query} />
        ) : null}
        <nav class={`${css.nav} ${css.end}`} aria-label="Taffrail">
          {isPhone && isSignedIn ? <PhoneMenu /> : <OwnLinks path={path} query={query} />}
        </nav>
      </header>
      <div class={css.page}>
        <PendingSignOutNotice />
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
      <NavLink to="/docs" label="API" shape={BookOpen} isCurrent={false} />
      <span class={css.commands}>
        <IconButton icon={CommandShape} label="Commands" shortcut="Ctrl K" tooltipSide="right" onClick={openPalette} />
      </span>
      <AppearanceMenu />
      {user.value ? (
        <>
          <NavLink to="/auth/account" label="Account" shape={CircleUserRound} isCurrent={path === "/auth/account"} />
          <IconButton icon={LogOut} label="Sign out" tooltipSide="right" onClick={() => signOut()} />
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
        { label: "Account", icon: CircleUserRound, onSelect: () => route("/auth/account") },
        { label: "Playground", icon: FlaskConical, onSelect: () => route("/playground") },
        { label: "API", icon: BookOpen, onSelect: () => location.assign("/docs") },
        ...appearanceItems().map((item, at) => ({ ...item, startsGroup: at === 0 || item.startsGroup === true })),
        { label: "Sign out", icon: LogOut, startsGroup: true, onSelect: () => void signOut() },
      ]}
    />
  );
}

/** The project whose logs were shown last, as a part of their path; empty for all projects. */
let lastProject = { base: "", project: "" };

/** Pages of one query. Each leads to the others with the same query and time range. */
const QUERY_PAGES = [
  { part: "", label: "Logs", shape: ScrollText },
  { part: "/patterns", label: "Patterns", shape: Shapes },
  { part: "/compare", label: "Compare", shape: GitCompareArrows },
] as const;
/** Their paths below the workspace: project and page. */
const QUERY_PATH = /^(\/p\/[^/]+)?(\/patterns|\/compare)?$/;
/** Their common parameters. */
const ASKED: readonly string[] = ["q", "range", "from", "to"];

function WorkspaceNav({ workspaceId, path, query }: OwnLinksProps & { workspaceId: string }) {
  const base = `/w/${workspaceId}`;
  const isSettings = path.startsWith(`${base}/settings`);
  const isBoards = path.startsWith(`${base}/boards`);
  const isOverview = path === `${base}/overview`;
  const isAlerts = path.startsWith(`${base}/alerts`);
  const shown = QUERY_PATH.exec(path.slice(base.length));
  if (shown !== null) lastProject = { base, project: shown[1] ?? "" };
  const project = lastProject.base === base ? lastProject.project : "";
  const current = shown === null ? null : (shown[2] ?? "");
  const params = Object.entries(query).filter(([name]) => current !== null && ASKED.includes(name));
  const asked = params.length === 0 ? "" : `?${new URLSearchParams(params)}`;
  return (
    <nav class={css.nav} aria-label="Workspace">
      <WorkspaceMenu workspaceId={workspaceId} />
      <NavLink to={`${base}/overview`} label="Overview" shape={Gauge} isCurrent={isOverview} />
      {QUERY_PAGES.map(({ part, label, shape }) => (
        <NavLink
          key={label}
          to={`${base}${project}${part}${part === current ? "" : asked}`}
          label={label}
          shape={shape}
          isCurrent={part === current || (part === "" && path.startsWith(`${base}/trace/`))}
        />
      ))}
      <NavLink to={`${base}/boards`} label="Boards" shape={LayoutDashboard} isCurrent={isBoards} />
      <NavLink to={`${base}/alerts`} label="Alerts" shape={Bell} isCurrent={isAlerts} />
      <NavLink to={`${base}/settings`} label="Settings" shape={Settings} isCurrent={isSettings} />
    </nav>
  );
}

/** The current workspace as a letter; a choice of the others. */
function WorkspaceMenu({ workspaceId }: { workspaceId: string }) {
  const { route } = useLocation();
  const known = workspaces.value ?? [];
  const name = known.find(({ id }) => id === workspaceId)?.name ?? workspaceId;
  return (
    <Menu
      label={`Workspace ${name}`}
      face={
        <span class={css.avatar} aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
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
}

/** A link with an icon: in the rail the icon alone is visible, and the tooltip names it. */
function NavLink({ to, label, shape, isCurrent }: NavLinkProps) {
  return (
    <a
      class={css.link}
      href={to}
      aria-current={isCurrent ? "page" : undefined}
      data-tooltip={label}
      data-tooltip-side="right"
    >
      <Icon shape={shape} size={18} />
      <span class={css.label}>{label}</span>
    </a>
  );
}
