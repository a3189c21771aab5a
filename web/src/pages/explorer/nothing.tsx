import type { Project } from "../../model/types.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Row } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { curlOf } from "./actions/curl.ts";
import css from "./nothing.module.css";
import type { ExplorerState } from "./use-explorer.ts";
import { rangeText } from "./view/format.ts";
import { hasFilters } from "./view/view.ts";

interface NothingProps {
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[] | null;
  explorer: ExplorerState;
  isLive: boolean;
}

/** Why there is nothing to see, and what helps. */
export function Nothing({ workspaceId, projectId, projects, explorer, isLive }: NothingProps) {
  const { view, change, results, reload } = explorer;
  // The line above says that the search goes on.
  if (!results.complete) return null;
  if (projects?.length === 0) {
    return (
      <Empty title="There is no project yet">
        <p>Every log entry belongs to a project. Make one, then make a key to send with.</p>
        <a class={buttonClass("primary")} href={`/w/${workspaceId}/settings/projects`}>
          Make a project
        </a>
      </Empty>
    );
  }
  const inScope = projects?.filter(({ id }) => projectId === null || id === projectId);
  const target = inScope?.[0];
  if (target && inScope?.every(({ lastSeq }) => lastSeq === 0)) {
    return <NoEntries workspaceId={workspaceId} projectId={target.id} isLive={isLive} onReload={reload} />;
  }
  const filtered = hasFilters(view.filters);
  return (
    <Empty title="Nothing matches">
      <p>
        {filtered ? "No entry passes these filters" : "There is no entry"} in this time: {rangeText(view.range)}.
      </p>
      <Row>
        {filtered ? (
          <Button onClick={() => change((before) => ({ ...before, filters: {} }))}>Clear filters</Button>
        ) : null}
        {view.range.kind === "all" ? null : (
          <Button onClick={() => change((before) => ({ ...before, range: { kind: "all" } }))}>Look in all time</Button>
        )}
        <Button onClick={reload}>Look again</Button>
      </Row>
    </Empty>
  );
}

function NoEntries({
  workspaceId,
  projectId,
  isLive,
  onReload,
}: {
  workspaceId: string;
  projectId: string;
  isLive: boolean;
  onReload: () => void;
}) {
  const entry = { level: "info", message: "Hello from curl" };
  const command = curlOf(location.origin, `/logger/${projectId}/log`, entry, "logs:write");
  return (
    <Empty title="No entries yet">
      <p>
        Make a key under <a href={`/w/${workspaceId}/settings/keys`}>API keys</a>, put it into the variable{" "}
        <code>TAFFRAIL_API_KEY</code>, and send the first entry:
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre class={css.command} tabIndex={0}>
        {command}
      </pre>
      <Row>
        <Copy text={command} label="Copy command" />
        {isLive ? (
          <p>It will appear here by itself.</p>
        ) : (
          <Button small onClick={onReload}>
            Look again
          </Button>
        )}
      </Row>
    </Empty>
  );
}
