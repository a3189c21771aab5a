import { Box, RotateCw } from "lucide";
import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";
import { IconButton } from "../../ui/button.tsx";
import { useTitle } from "../../ui/page.tsx";
import { useCommands } from "../../ui/palette/commands.ts";
import { Select } from "../../ui/select.tsx";
import { Notes } from "../explorer/search/notes.tsx";
import { QueryBox } from "../explorer/search/query-box.tsx";
import { TimeRange } from "../explorer/toolbar/time-range.tsx";
import { PRESETS } from "../explorer/view/range.ts";
import css from "./frame.module.css";
import { type Tool, toolLink, toolPath } from "./links.ts";
import { QUERY_PAGES, QueryPages } from "./query-pages.tsx";
import type { Investigation } from "./use-investigation.ts";

const NAMES: Readonly<Record<Tool, string>> = { patterns: "Patterns", compare: "Compare" };
interface FrameProps {
  investigation: Investigation;
  tool: Tool;
  busy: boolean;
  /** Controls of the tool, after the time range. */
  controls?: ComponentChildren;
  children: ComponentChildren;
}

/** A page about the entries of a query: the query, its range, and the way to the other pages about the same entries. */
export function Frame({ investigation, tool, busy, controls, children }: FrameProps) {
  const { workspaceId, projectId, view, times, change, reload, projects, search } = investigation;
  const { route } = useLocation();
  useTitle(NAMES[tool]);
  useCommands(() => [
    { label: "Refresh", group: NAMES[tool], run: reload },
    ...QUERY_PAGES.filter((page) => page.tool !== tool).map((page) => ({
      label: `${page.label} of this query`,
      group: NAMES[tool],
      run: () => route(toolLink(workspaceId, projectId, page.tool, view)),
    })),
    ...PRESETS.map(({ name, label }) => ({
      label,
      group: "Time",
      run: () => change({ range: { kind: "last", preset: name } }),
    })),
  ]);
  const isListed = projectId === null || projects.data?.some(({ id }) => id === projectId);
  const choices = [
    { value: "", label: "All projects" },
    ...(isListed ? [] : [{ value: projectId ?? "", label: projectId ?? "" }]),
    ...(projects.data?.map(({ id, name }) => ({ value: id, label: name })) ?? []),
  ];
  return (
    <div class={css.page}>
      <div class={css.top}>
        <h1 class="visually-hidden">{NAMES[tool]}</h1>
        <QueryPages workspaceId={workspaceId} projectId={projectId} view={view} current={tool} />
        <span class={css.project}>
          <Select
            label="Project"
            icon={Box}
            value={projectId ?? ""}
            options={choices}
            onChange={(id) => route(`${toolPath(workspaceId, id === "" ? null : id, tool)}${search}`)}
          />
        </span>
        <div class={css.query}>
          <QueryBox
            workspaceId={workspaceId}
            projectId={projectId}
            times={times}
            value={view.query ?? ""}
            onSearch={(text) => {
              // The same query again counts again.
              if (text === (view.query ?? "")) reload();
              else change({ query: text });
            }}
          />
        </div>
        <span class={css.range}>
          <TimeRange range={view.range} times={times} onChange={(range) => change({ range })} />
        </span>
        {controls}
        <IconButton icon={RotateCw} look="plain" label="Refresh" busy={busy} onClick={reload} />
      </div>
      <div class={css.notes}>
        <Notes
          notes={[
            ...(investigation.hasPipes ? ["The pipes of the query are left out here."] : []),
            ...(investigation.invalidParameters.length > 0
              ? [`Ignored invalid parts of this link: ${investigation.invalidParameters.join(", ")}.`]
              : []),
          ]}
        />
      </div>
      {children}
    </div>
  );
}
