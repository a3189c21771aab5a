import type { FunctionComponent, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { SETTINGS_PAGES, type SettingsPage } from "../../model/settings-pages.ts";
import type { Workspace } from "../../model/types.ts";
import {
  knownWorkspace,
  loadWorkspaces,
  refreshWorkspaces,
  workspaces,
  workspacesFailure,
} from "../../model/workspaces.ts";
import { Page, useTitle } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { AgentsSection } from "./agents.tsx";
import { Audit } from "./audit/audit.tsx";
import { Danger } from "./danger.tsx";
import { Destinations } from "./destinations/destinations.tsx";
import { ExportSection } from "./export.tsx";
import { General } from "./general.tsx";
import { Keys } from "./keys/keys.tsx";
import { Limits } from "./limits/limits.tsx";
import { Members } from "./members/members.tsx";
import { MissingEntries } from "./missing.tsx";
import { Notifications } from "./notifications.tsx";
import { Projects } from "./projects.tsx";
import css from "./settings.module.css";
import { UsageSection } from "./usage.tsx";
import { Violations } from "./violations.tsx";

const VIEWS: Record<SettingsPage["slug"], FunctionComponent<{ workspace: Workspace }>> = {
  general: General,
  projects: Projects,
  keys: Keys,
  members: Members,
  agents: AgentsSection,
  limits: Limits,
  violations: Violations,
  missing: MissingEntries,
  destinations: Destinations,
  notifications: Notifications,
  usage: UsageSection,
  export: ExportSection,
  audit: Audit,
  danger: Danger,
};

const [GENERAL] = SETTINGS_PAGES;

export function Settings() {
  const { workspaceId = "", section } = useRoute().params;
  useEffect(() => {
    // Another member may have changed the user's role, which decides what is available here.
    refreshWorkspaces();
  }, [workspaceId]);
  const workspace = knownWorkspace(workspaceId);
  if (workspace) return <Sections workspace={workspace} slug={section ?? GENERAL.slug} />;
  return <Page title="Settings">{workspaces.value === null ? <Waiting /> : <WorkspaceNotFound />}</Page>;
}

function Waiting() {
  const failure = workspacesFailure.value;
  return failure ? <Failure failure={failure} onRetry={() => void loadWorkspaces()} /> : <Loading />;
}

function WorkspaceNotFound() {
  return (
    <Empty title="Workspace not found">
      <p>It does not exist or you are not a member.</p>
      <a href="/">Your workspaces</a>
    </Empty>
  );
}

function Sections({ workspace, slug }: { workspace: Workspace; slug: string }) {
  const { route } = useLocation();
  const current = SETTINGS_PAGES.find((section) => section.slug === slug);
  useTitle(`${current?.title ?? "Settings"} · ${workspace.name}`);
  const here = useRef<HTMLAnchorElement>(null);
  const nav = useRef<HTMLElement>(null);
  useScrollEdges(nav);
  const base = `/w/${workspace.id}/settings`;
  useEffect(() => {
    if (!current) route(base, true);
    // On a small screen the sections scroll: bring the current one into view.
    here.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [slug]);
  if (!current) return null;
  const View = VIEWS[current.slug];
  return (
    <div class={css.page}>
      <div class={css.head}>
        <h1>Settings</h1>
        <p class={css.of}>{workspace.name}</p>
      </div>
      <nav class={css.nav} aria-label="Settings" ref={nav}>
        {SETTINGS_PAGES.map((section) => (
          <a
            key={section.slug}
            href={section === GENERAL ? base : `${base}/${section.slug}`}
            {...(section === current ? { ref: here, "aria-current": "page" as const } : {})}
          >
            {section.title}
          </a>
        ))}
      </nav>
      <View key={workspace.id} workspace={workspace} />
    </div>
  );
}

/**
 * Marks an element that scrolls sideways with the sides on which content is hidden: `data-hidden="start end"`, for a style sheet that
 * fades those.
 */
function useScrollEdges(host: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const mark = (): void => {
      const { scrollLeft, scrollWidth, clientWidth } = element;
      const sides = [scrollLeft > 1 ? "start" : "", scrollLeft < scrollWidth - clientWidth - 1 ? "end" : ""];
      element.dataset.hidden = sides.join(" ").trim();
    };
    const observer = new ResizeObserver(mark);
    observer.observe(element);
    element.addEventListener("scroll", mark, { passive: true });
    mark();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", mark);
    };
  }, []);
}
