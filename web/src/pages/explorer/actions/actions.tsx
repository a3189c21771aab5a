import type { Project } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { fixed, type Times } from "../view/range.ts";
import { type View, viewSearch } from "../view/view.ts";
import css from "./actions.module.css";
import { curlOf, type QueryRequest } from "./curl.ts";
import { DownloadDialog } from "./download-dialog.tsx";
import { ShortcutsDialog } from "./shortcuts-dialog.tsx";
import { ViewsDialog } from "./views-dialog.tsx";

type Dialog = "views" | "download" | "keys";

interface ActionsProps {
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[];
  view: View;
  times: Times;
  request: QueryRequest;
  expected: number | null;
  dialog: Dialog | null;
  onDialog: (dialog: Dialog | null) => void;
}

/** What can be done with a view: keep it, pass it on, take it away. */
export function Actions({
  workspaceId,
  projectId,
  projects,
  view,
  times,
  request,
  expected,
  dialog,
  onDialog,
}: ActionsProps) {
  const search = viewSearch(view);
  const path = `/w/${workspaceId}${projectId === null ? "" : `/p/${projectId}`}`;
  const close = (): void => onDialog(null);
  return (
    <div class={css.actions}>
      <Button small onClick={() => onDialog("views")} title="Saved views (v)">
        Views
      </Button>
      <Button small onClick={() => copy(`${location.origin}${path}${search}`, "The link is copied.")}>
        Copy link
      </Button>
      {view.range.kind === "last" ? (
        <Button
          small
          title="A link to the very time that is shown now, whenever it is opened"
          onClick={() => {
            const pinned = { ...view, range: fixed(view.range, times), live: false };
            return copy(`${location.origin}${path}${viewSearch(pinned)}`, "The link with fixed times is copied.");
          }}
        >
          Copy link to this time
        </Button>
      ) : null}
      <Button
        small
        title="The same query for a shell. The key is read from TAFFRAIL_KEY"
        onClick={() =>
          copy(
            curlOf(location.origin, "/logger/query", { ...request, pagination: { limit: 100 } }, "logs:read"),
            projectId === null
              ? "The command is copied. Put a key into TAFFRAIL_KEY: it reads the key's own project alone."
              : "The command is copied. Put a key of this project into TAFFRAIL_KEY.",
          )
        }
      >
        Copy as curl
      </Button>
      <Button small onClick={() => onDialog("download")}>
        Download
      </Button>
      <Button small look="quiet" onClick={() => onDialog("keys")} title="Keys (?)">
        Keys
      </Button>
      {dialog === "views" ? (
        <ViewsDialog
          workspaceId={workspaceId}
          projectId={projectId}
          projects={projects}
          search={search}
          onClose={close}
        />
      ) : null}
      {dialog === "download" ? (
        <DownloadDialog workspaceId={workspaceId} request={request} expected={expected} onClose={close} />
      ) : null}
      {dialog === "keys" ? <ShortcutsDialog onClose={close} /> : null}
    </div>
  );
}

async function copy(text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast("The browser did not let the text be copied.", "error");
  }
}
