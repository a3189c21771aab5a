import { BellPlus, Bookmark, CircleQuestionMark, Download, Ellipsis, ListFilter, RotateCw, Share2 } from "lucide";
import type { RefObject } from "preact";
import { useContext } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Project } from "../../../model/types.ts";
import { IconButton, iconButtonClass } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { goKeysOf } from "../../../ui/shortcuts/go-keys.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { useMedia } from "../../../ui/use-media.ts";
import { LinkedWorkspace } from "../../investigate/linked-workspace.ts";
import { toolLink } from "../../investigate/links.ts";
import { QUERY_PAGES } from "../../investigate/query-pages.tsx";
import type { ShownBars } from "../histogram/bars.ts";
import type { Times } from "../view/range.ts";
import { type View, viewSearch } from "../view/view.ts";
import css from "./actions.module.css";
import type { QueryRequest } from "./curl.ts";
import { PHONE } from "./phone.ts";

const DIALOGS = lazyModule(() => import("./action-dialogs.tsx"));

export type ActionDialog = "views" | "share" | "download" | "keys" | "board";

interface ActionsProps {
  panelId: string;
  panelOpen: boolean;
  onPanel: () => void;
  onReload: () => void;
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[];
  view: View;
  times: Times;
  request: QueryRequest;
  /** Number of entries that a download will have; `null` if unknown. */
  expected: number | null;
  /** Returns what the histogram shows, while there is one. */
  shownBars: RefObject<(() => ShownBars) | null>;
  dialog: ActionDialog | null;
  onDialog: (dialog: ActionDialog | null) => void;
}

/** Buttons for the current view: save, share, download. */
export function Actions({ panelId, panelOpen, onPanel, onReload, dialog, onDialog, expected, ...scope }: ActionsProps) {
  const { route } = useLocation();
  // A guest has the explorer alone.
  const hasPages = useContext(LinkedWorkspace) !== null;
  const isPhone = useMedia(PHONE);
  const close = (): void => onDialog(null);
  const dialogs = useLazy(DIALOGS, dialog !== null, close);
  return (
    <div class={css.actions}>
      <span class={css.panel}>
        <IconButton
          icon={ListFilter}
          look="plain"
          label={panelOpen ? "Hide fields" : "Fields"}
          aria-expanded={panelOpen}
          aria-controls={panelId}
          onClick={onPanel}
        />
      </span>
      <span class={css.wide}>
        <IconButton icon={Bookmark} label="Views" shortcut="v" onClick={() => onDialog("views")} />
        <IconButton icon={Share2} label="Share" shortcut="s" onClick={() => onDialog("share")} />
        <IconButton icon={Download} label="Download" onClick={() => onDialog("download")} />
        {hasPages ? (
          <a
            class={iconButtonClass("quiet")}
            href={newAlertPath(scope)}
            aria-label="Create alert"
            data-tooltip="Create alert"
          >
            <Icon shape={BellPlus} />
          </a>
        ) : null}
        <IconButton icon={CircleQuestionMark} label="Help" shortcut="?" onClick={() => onDialog("keys")} />
      </span>
      <span class={css.more}>
        <Menu
          label="More"
          icon={Ellipsis}
          iconOnly
          look="quiet"
          placement="bottom-end"
          items={[
            ...(hasPages && isPhone
              ? QUERY_PAGES.filter(({ tool }) => tool !== null).map(({ tool, label, shape }) => ({
                  label,
                  icon: shape,
                  ...goKeysOf(label),
                  onSelect: () => route(toolLink(scope.workspaceId, scope.projectId, tool, scope.view)),
                }))
              : []),
            { label: "Refresh", icon: RotateCw, shortcut: "r", onSelect: onReload },
            { label: "Views", icon: Bookmark, shortcut: "v", onSelect: () => onDialog("views") },
            { label: "Share", icon: Share2, shortcut: "s", onSelect: () => onDialog("share") },
            { label: "Download", icon: Download, onSelect: () => onDialog("download") },
            ...(hasPages
              ? [{ label: "Create alert", icon: BellPlus, onSelect: () => route(newAlertPath(scope)) }]
              : []),
            { label: "Help", icon: CircleQuestionMark, shortcut: "?", onSelect: () => onDialog("keys") },
          ]}
        />
      </span>
      {dialog === null || dialogs === null ? null : (
        <dialogs.ActionDialogs {...scope} dialog={dialog} expected={expected} onClose={close} />
      )}
    </div>
  );
}

/** The editor of a new alert, which starts from the search of a view. */
export function newAlertPath({
  workspaceId,
  projectId,
  view,
}: Pick<ActionsProps, "workspaceId" | "projectId" | "view">): string {
  const search = new URLSearchParams(viewSearch(view));
  if (projectId !== null) search.set("project", projectId);
  return `/w/${workspaceId}/alerts/new?${search}`;
}
