import {
  Bell,
  BookOpen,
  CircleUserRound,
  Command as CommandShape,
  FlaskConical,
  Gauge,
  Layers,
  LayoutDashboard,
  LogOut,
  ScrollText,
  Settings,
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
import { AppearanceMenu } from "./theme.tsx";

/** Navigation and main element of every page: a rail for a signed-in user, otherwise a bar. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path, query } = useLocation();
  const workspaceId = /^\/w\/([^/]+)/.exec(path)?.[1] ?? null;
  const isSignedIn = Boolean(user.value);
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
        {workspaceId !== null && isSignedIn ? <WorkspaceNav workspaceId={workspaceId} path={path} /> : null}
        <nav class={`${css.nav} ${css.end}`} aria-label="Taffrail">
          <NavLink to="/playground" label="Playground" shape={FlaskConical} isCurrent={path === "/playground"} />
          <NavLink to="/docs" label="API" shape={BookOpen} isCurrent={false} />
          <span class={css.commands}>
            <IconButton
              icon={CommandShape}
              label="Commands"
              shortcut="Ctrl K"
              tooltipSide="right"
              onClick={openPalette}
            />
          </span>
          <AppearanceMenu />
          {isSignedIn ? (
            <>
              <NavLink
                to="/auth/account"
                label="Account"
                shape={CircleUserRound}
                isCurrent={path === "/auth/account"}
              />
              <IconButton icon={LogOut} label="Sign out" tooltipSide="right" onClick={() => signOut()} />
            </>
          ) : (
            <a class={css.link} href={signInFrom(path, query)} aria-current={path === "/login" ? "page" : undefined}>
              Sign in
            </a>
          )}
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

/** The project whose logs were shown last, as a part of their path; empty for all projects. */
let lastProject = { base: "", project: "" };

function WorkspaceNav({ workspaceId, path }: { workspaceId: string; path: string }) {
  const base = `/w/${workspaceId}`;
  const isSettings = path.startsWith(`${base}/settings`);
  const isBoards = path.startsWith(`${base}/boards`);
  const isOverview = path === `${base}/overview`;
  const isAlerts = path.startsWith(`${base}/alerts`);
  const isLogs = !isSettings && !isBoards && !isAlerts && !isOverview && path !== `${base}/start`;
  const shown = new RegExp(`^${base}(/p/[^/]+)?$`).exec(path);
  if (shown !== null) lastProject = { base, project: shown[1] ?? "" };
  const project = lastProject.base === base ? lastProject.project : "";
  return (
    <nav class={css.nav} aria-label="Workspace">
      <WorkspaceMenu workspaceId={workspaceId} />
      <NavLink to={`${base}/overview`} label="Overview" shape={Gauge} isCurrent={isOverview} />
      <NavLink
        to={`${base}${project}`}
        label="Logs"
        tooltip="Logs, Patterns, Compare"
        shape={ScrollText}
        isCurrent={isLogs}
      />
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
  /** If it says more than the label. */
  tooltip?: string;
  shape: IconShape;
  isCurrent: boolean;
}

/** A link with an icon: in the rail the icon alone is visible, and the tooltip names it. */
function NavLink({ to, label, tooltip = label, shape, isCurrent }: NavLinkProps) {
  return (
    <a
      class={css.link}
      href={to}
      aria-current={isCurrent ? "page" : undefined}
      data-tooltip={tooltip}
      data-tooltip-side="right"
    >
      <Icon shape={shape} size={18} />
      <span class={css.label}>{label}</span>
    </a>
  );
}
