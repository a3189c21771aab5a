import type { Project } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import type { Times } from "../view/range.ts";
import { type View, viewSearch } from "../view/view.ts";
import css from "./actions.module.css";
import type { QueryRequest } from "./curl.ts";
import { DownloadDialog } from "./download-dialog.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { ShortcutsDialog } from "./shortcuts-dialog.tsx";
import { ViewsDialog } from "./views-dialog.tsx";

export type ActionDialog = "views" | "share" | "download" | "keys";

interface ActionsProps {
  panelId: string;
  panelOpen: boolean;
  onPanel: () => void;
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[];
  view: View;
  times: Times;
  request: QueryRequest;
  /** Number of entries that a download will have; `null` if unknown. */
  expected: number | null;
  dialog: ActionDialog | null;
  onDialog: (dialog: ActionDialog | null) => void;
}

/** Buttons for the current view: save, share, download. */
export function Actions({ panelId, panelOpen, onPanel, dialog, onDialog, expected, ...scope }: ActionsProps) {
  const { workspaceId, projectId, projects, view, request } = scope;
  const close = (): void => onDialog(null);
  return (
    <div class={css.actions}>
      <span class={css.narrow}>
        <Button small aria-expanded={panelOpen} aria-controls={panelId} onClick={onPanel}>
          {panelOpen ? "Hide filters" : "Filters"}
        </Button>
      </span>
      <Button small onClick={() => onDialog("views")} title="Saved views (v)">
        Views
      </Button>
      <Button small onClick={() => onDialog("share")} title="Links, and the query as a command (s)">
        Share
      </Button>
      <Button small onClick={() => onDialog("download")}>
        Download
      </Button>
      <span class={css.keyboard}>
        <Button small look="quiet" onClick={() => onDialog("keys")} title="Keyboard shortcuts (?)">
          Shortcuts
        </Button>
      </span>
      {dialog === "views" ? (
        <ViewsDialog
          workspaceId={workspaceId}
          projectId={projectId}
          projects={projects}
          search={viewSearch(view)}
          onClose={close}
        />
      ) : null}
      {dialog === "share" ? <ShareDialog {...scope} onClose={close} /> : null}
      {dialog === "download" ? (
        <DownloadDialog workspaceId={workspaceId} request={request} expected={expected} onClose={close} />
      ) : null}
      {dialog === "keys" ? <ShortcutsDialog onClose={close} /> : null}
    </div>
  );
}
