import { Radio, RotateCw } from "lucide";
import { visible } from "../../../lib/visible.ts";
import type { Project } from "../../../model/types.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Menu } from "../../../ui/menu.tsx";
import type { useFollow } from "../live/use-follow.ts";
import { QueryBox } from "../search/query-box.tsx";
import type { Times } from "../view/range.ts";
import { type View, viewSearch, withQuery } from "../view/view.ts";
import { ProjectChoice } from "./project-choice.tsx";
import { TimeRange } from "./time-range.tsx";
import css from "./toolbar.module.css";

interface ToolbarProps {
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[] | null;
  view: View;
  times: Times;
  busy: boolean;
  onChange: (change: (view: View) => View) => void;
  onReload: () => void;
  follow: ReturnType<typeof useFollow>;
}

export function Toolbar({ workspaceId, projectId, projects, view, times, busy, follow, ...on }: ToolbarProps) {
  return (
    <div class={css.toolbar}>
      <ProjectChoice
        workspaceId={workspaceId}
        projectId={projectId}
        projects={projects}
        search={viewSearch({ ...view, live: false })}
      />
      <TimeRange
        range={view.range}
        times={times}
        onChange={(range) =>
          on.onChange((before) => ({
            ...before,
            range,
            // A range with an end has no new entries.
            live: before.live && !(range.kind === "between" && range.to !== null),
          }))
        }
      />
      <span class={css.refresh}>
        <IconButton icon={RotateCw} look="plain" label="Refresh" shortcut="r" busy={busy} onClick={on.onReload} />
      </span>
      {follow.choices.length > 0 ? (
        <Menu
          label="Live"
          face={
            <>
              <Icon shape={Radio} />
              <span class="wide-only">Live</span>
            </>
          }
          iconOnly={false}
          shortcut="live"
          items={follow.choices.map((project) => ({
            id: project.id,
            label: `Follow ${visible(project.name)}`,
            onSelect: () => follow.follow(project),
          }))}
        />
      ) : (
        <Button icon={Radio} aria-pressed={view.live && projectId !== null} title="Live (l)" onClick={follow.toggle}>
          <span class="wide-only">Live</span>
        </Button>
      )}
      <QueryBox
        workspaceId={workspaceId}
        projectId={projectId}
        times={times}
        value={view.query ?? ""}
        onSearch={(text) => {
          // The same query again refreshes the list.
          if (text === (view.query ?? "")) on.onReload();
          else on.onChange((before) => withQuery(before, text));
        }}
      />
    </div>
  );
}
