import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";
import { workspaces } from "../model/workspaces.ts";
import { signInFrom } from "../session/next-path.ts";
import { signOut, user } from "../session/session.ts";
import { Button } from "./button.tsx";
import icon from "./icon.svg";
import { PendingSignOutNotice } from "./pending-sign-out-notice.tsx";
import css from "./shell.module.css";
import { ThemeChoice } from "./theme.tsx";

/** Header and main element of every page. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { path, query } = useLocation();
  const workspaceId = /^\/w\/([^/]+)/.exec(path)?.[1] ?? null;
  return (
    <>
      <a class={css.skip} href="#main">
        Skip to content
      </a>
      <header class={css.header}>
        <a class={css.brand} href="/">
          <img src={icon} alt="" />
          <span class={css.name}>Taffrail</span>
        </a>
        {workspaceId !== null && user.value ? <WorkspaceNav workspaceId={workspaceId} path={path} /> : null}
        <nav class={`${css.nav} ${css.end}`} aria-label="Taffrail">
          <Link to="/playground" path={path}>
            Playground
          </Link>
          <a href="/docs">API</a>
          <ThemeChoice />
          {user.value ? (
            <>
              <Link to="/auth/account" path={path}>
                Account
              </Link>
              <Button small onClick={() => signOut()}>
                Sign out
              </Button>
            </>
          ) : (
            <a href={signInFrom(path, query)} aria-current={path === "/login" ? "page" : undefined}>
              Sign in
            </a>
          )}
        </nav>
      </header>
      <PendingSignOutNotice />
      <main class={css.main} id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

function WorkspaceNav({ workspaceId, path }: { workspaceId: string; path: string }) {
  const { route } = useLocation();
  const known = workspaces.value ?? [];
  return (
    <nav class={css.nav} aria-label="Workspace">
      <label class={css.workspace}>
        <span class="visually-hidden">Workspace</span>
        <select value={workspaceId} onChange={(event) => route(`/w/${event.currentTarget.value}`)}>
          {known.some(({ id }) => id === workspaceId) ? null : <option value={workspaceId}>{workspaceId}</option>}
          {known.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <a href={`/w/${workspaceId}`} aria-current={path.includes("/settings") ? undefined : "page"}>
        Logs
      </a>
      <a href={`/w/${workspaceId}/settings`} aria-current={path.includes("/settings") ? "page" : undefined}>
        Settings
      </a>
    </nav>
  );
}

function Link({ to, path, children }: { to: string; path: string; children: ComponentChildren }) {
  return (
    <a href={to} aria-current={path === to ? "page" : undefined}>
      {children}
    </a>
  );
}
