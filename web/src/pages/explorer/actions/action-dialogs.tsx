import type { RefObject } from "preact";
import type { Project } from "../../../model/types.ts";
import { partsOf } from "../../boards/kept-parts.ts";
import { SaveToBoard } from "../../boards/save-to-board.tsx";
import { chartPipes, MOST_WIDE_BINS } from "../fields/field-groups.ts";
import type { ShownBars } from "../histogram/bars.ts";
import { askedOf } from "../search/asked.ts";
import type { Times } from "../view/range.ts";
import { type View, viewSearch } from "../view/view.ts";
import type { ActionDialog } from "./actions.tsx";
import type { QueryRequest } from "./curl.ts";
import { DownloadDialog } from "./download-dialog.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { ViewsDialog } from "./views-dialog.tsx";

interface ActionDialogsProps {
  dialog: ActionDialog;
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[];
  view: View;
  times: Times;
  request: QueryRequest;
  expected: number | null;
  shownBars: RefObject<(() => ShownBars) | null>;
  onClose: () => void;
}

/** The dialogs of the current view's actions, loaded when the first one opens. */
export function ActionDialogs({ dialog, expected, shownBars, onClose, ...scope }: ActionDialogsProps) {
  const { workspaceId, projectId, projects, view, request } = scope;
  switch (dialog) {
    case "views":
      return (
        <ViewsDialog
          workspaceId={workspaceId}
          projectId={projectId}
          projects={projects}
          search={viewSearch(view)}
          onClose={onClose}
        />
      );
    case "share":
      return <ShareDialog {...scope} onClose={onClose} />;
    case "download":
      return (
        <DownloadDialog
          workspaceId={workspaceId}
          request={request}
          range={view.range}
          expected={expected}
          onClose={onClose}
        />
      );
    case "board":
      return (
        <SaveToBoard
          workspaceId={workspaceId}
          projectId={projectId}
          queryOf={(times) => {
            // A part is about as wide as its bars are on the chart. The same range begins at another moment of its minute.
            const isPart = times.end - times.start < 0.9 * (scope.times.end - scope.times.start);
            const pipes = chartPipes("level", "string", times, isPart ? undefined : MOST_WIDE_BINS);
            return `${askedOf(view.query ?? "").q ?? "*"} ${pipes}`;
          }}
          times={scope.times}
          parts={() => {
            const shown = shownBars.current?.();
            if (shown === undefined) return {};
            const { start, end, to } = scope.times;
            // A live view has later entries.
            const chart = { start, end: to === undefined ? Math.max(end, Date.now()) : end };
            return partsOf(chart, shown.filled, shown.selected);
          }}
          range={view.range}
          kind="bars"
          onClose={onClose}
        />
      );
    case "keys":
      return <HelpDialog view={view} onClose={onClose} />;
  }
}
