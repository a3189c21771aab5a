import { Bookmark, Download, Keyboard, ListFilter, Share2 } from "lucide";
import type { Project } from "../../../model/types.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { QueryLinks } from "../../investigate/query-links.tsx";
import type { Times } from "../view/range.ts";
import type { View } from "../view/view.ts";
import css from "./actions.module.css";
import type { QueryRequest } from "./curl.ts";

const DIALOGS = lazyModule(() => import("./action-dialogs.tsx"));

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
  const close = (): void => onDialog(null);
  const dialogs = useLazy(DIALOGS, dialog !== null, close);
  return (
    <div class={css.actions}>
      <span class={css.narrow}>
        <Button icon={ListFilter} aria-expanded={panelOpen} aria-controls={panelId} onClick={onPanel}>
          {panelOpen ? "Hide filters" : "Filters"}
        </Button>
      </span>
      <QueryLinks workspaceId={scope.workspaceId} projectId={scope.projectId} view={scope.view} />
      <IconButton icon={Bookmark} label="Views" shortcut="v" onClick={() => onDialog("views")} />
      <IconButton icon={Share2} label="Share" shortcut="s" onClick={() => onDialog("share")} />
      <IconButton icon={Download} label="Download" onClick={() => onDialog("download")} />
      <span class={css.keyboard}>
        <IconButton icon={Keyboard} label="Shortcuts" shortcut="?" onClick={() => onDialog("keys")} />
      </span>
      {dialog === null || dialogs === null ? null : (
        <dialogs.ActionDialogs {...scope} dialog={dialog} expected={expected} onClose={close} />
      )}
    </div>
  );
}
