import { useLoad } from "../../lib/load.ts";
import { hasEnded } from "../../model/key-state.ts";
import { ableTo, reasonAgainst } from "../../model/roles.ts";
import type { ApiKey, Project } from "../../model/types.ts";
import { allOf, knownWorkspace } from "../../model/workspaces.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Row } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { curlOf } from "./actions/curl.ts";
import { NextSteps } from "./next-steps-list.tsx";
import css from "./nothing.module.css";
import { EmptyNotes } from "./search/notes.tsx";
import type { ExplorerState } from "./use-explorer.ts";
import { rangeText } from "./view/format.ts";
import { withQuery } from "./view/view.ts";

interface EmptyResultsProps {
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[] | null;
  explorer: ExplorerState;
  isLive: boolean;
}

/** Explains an empty list and offers next steps. */
export function EmptyResults({ workspaceId, projectId, projects, explorer, isLive }: EmptyResultsProps) {
  const { view, change, results, reload } = explorer;
  const role = knownWorkspace(workspaceId)?.role;
  const mayMake = (action: "project.create" | "key.create"): boolean =>
    role === undefined || reasonAgainst(role, action) === null;
  // The status line shows that the search is incomplete.
  if (!results.complete) return null;
  if (projects?.length === 0) {
    return (
      <Empty title="No projects yet">
        <p>
          Entries belong to a project.{" "}
          {!mayMake("project.create")
            ? `Ask ${ableTo("project.create")} to create one.`
            : mayMake("key.create")
              ? "Create a project and an API key to send entries."
              : `Create a project, then ask ${ableTo("key.create")} for an API key.`}
        </p>
        {mayMake("project.create") ? (
          <a class={buttonClass("primary")} href={`/w/${workspaceId}/settings/projects`}>
            Create project
          </a>
        ) : null}
      </Empty>
    );
  }
  const inScope = projects?.filter(({ id }) => projectId === null || id === projectId);
  const target = inScope?.[0];
  if (target && inScope?.every(({ lastSeq }) => lastSeq === 0)) {
    return (
      <NoEntries
        workspaceId={workspaceId}
        projectId={target.id}
        mayMakeKeys={mayMake("key.create")}
        isLive={isLive}
        onReload={reload}
      />
    );
  }
  const isFiltered = view.query !== undefined;
  return (
    <Empty title="No matching entries">
      <p>
        No entries{isFiltered ? " match this query" : ""} in this time range: {rangeText(view.range)}.
      </p>
      {!isFiltered ? null : (
        <EmptyNotes
          workspaceId={workspaceId}
          projectId={projectId}
          view={view}
          times={explorer.times}
          shown={explorer.asked.hints.map(({ message }) => message)}
        />
      )}
      <NextSteps workspaceId={workspaceId} projectId={projectId} view={view} times={explorer.times} />
      <Row>
        {isFiltered ? <Button onClick={() => change((before) => withQuery(before, ""))}>Clear query</Button> : null}
        {view.range.kind === "all" ? null : (
          <Button onClick={() => change((before) => ({ ...before, range: { kind: "all" } }))}>Search all time</Button>
        )}
        <Button onClick={reload}>Check again</Button>
      </Row>
    </Empty>
  );
}

interface NoEntriesProps {
  workspaceId: string;
  projectId: string;
  mayMakeKeys: boolean;
  isLive: boolean;
  onReload: () => void;
}

function NoEntries({ workspaceId, projectId, mayMakeKeys, isLive, onReload }: NoEntriesProps) {
  const entry = { level: "info", message: "Hello from curl" };
  const command = curlOf(location.origin, `/logger/${projectId}/log`, entry, "logs:write");
  return (
    <Empty title="No entries yet">
      <p>
        <WhichKey workspaceId={workspaceId} projectId={projectId} mayMake={mayMakeKeys} /> into the variable{" "}
        <code>TAFFRAIL_API_KEY</code>, then send the first entry:
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre class={css.command} tabIndex={0}>
        {command}
      </pre>
      <Row>
        <Copy text={command} label="Copy command" />
        <a href={`/w/${workspaceId}/start?project=${projectId}`}>Other languages</a>
        {isLive ? (
          <p>The entry will appear here.</p>
        ) : (
          <Button small onClick={onReload}>
            Check again
          </Button>
        )}
      </Row>
    </Empty>
  );
}

/** Start of a sentence: where the API key comes from, by existing keys and the reader's role. */
function WhichKey({ workspaceId, projectId, mayMake }: { workspaceId: string; projectId: string; mayMake: boolean }) {
  const path = `/projects/${projectId}/keys`;
  const { data: keys } = useLoad(path, (signal) => allOf<ApiKey>(path, workspaceId, signal));
  const now = Date.now();
  const made = keys?.find((key) => key.scopes.includes("logs:write") && !hasEnded(key, now));
  const link = <a href={`/w/${workspaceId}/settings/keys?project=${projectId}`}>API keys</a>;
  if (made) {
    return (
      <>
        Put the key <strong>{made.name}</strong> (
        {mayMake ? <>or another of the project's {link}</> : `ask ${ableTo("key.create")} for it`})
      </>
    );
  }
  // Neutral until the keys are loaded.
  if (keys === null) return <>Put a key of this project</>;
  if (!mayMake) return <>Ask {ableTo("key.create")} for a key of this project, and put it</>;
  return <>Create a key under {link}, put it</>;
}
