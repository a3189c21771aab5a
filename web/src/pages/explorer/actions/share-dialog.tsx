import { Copy } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { requestBody } from "../filters.ts";
import { fixed, type Times } from "../view/range.ts";
import { type View, viewSearch } from "../view/view.ts";
import css from "./actions.module.css";
import { curlOf, type QueryRequest } from "./curl.ts";

interface ShareDialogProps {
  workspaceId: string;
  projectId: string | null;
  view: View;
  times: Times;
  request: QueryRequest;
  onClose: () => void;
}

/** Links to the current view, and its query as a shell command. */
export function ShareDialog({ workspaceId, projectId, view, times, request, onClose }: ShareDialogProps) {
  const page = `${location.origin}/w/${workspaceId}${projectId === null ? "" : `/p/${projectId}`}`;
  const isRelative = view.range.kind === "last";
  // A command that is run later has the entries of this moment, too.
  const ending = isRelative ? { ...request.filters, to: new Date(times.end).toISOString() } : request.filters;
  const command = curlOf(
    location.origin,
    "/logger/query",
    requestBody({ ...request, ...(ending === undefined ? {} : { filters: ending }), pagination: { limit: 100 } }),
    "logs:read",
  );
  const pinned = { ...view, range: fixed(view.range, times), live: false };
  return (
    <Dialog title="Share" onClose={onClose}>
      {isRelative ? (
        <Shared
          title="Link to this time"
          hint="For members of this workspace. The start and the end stay as they are now."
          text={`${page}${viewSearch(pinned)}`}
          label="Copy link to this time"
        />
      ) : null}
      <Shared
        title="Link"
        hint={isRelative ? "The time range moves with the clock." : "For members of this workspace."}
        text={`${page}${viewSearch(view)}`}
        label="Copy link"
      />
      <Shared
        title="Command"
        hint={
          projectId === null
            ? "Reads the key from TAFFRAIL_API_KEY. A key reads only its own project."
            : "Reads a key of this project from TAFFRAIL_API_KEY."
        }
        text={command}
        label="Copy as curl"
      />
    </Dialog>
  );
}

function Shared({ title, hint, text, label }: { title: string; hint: string; text: string; label: string }) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      <p class={css.hint}>{hint}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre class={css.text} tabIndex={0}>
        {text}
      </pre>
      <div>
        <Copy text={text} label={label} />
      </div>
    </section>
  );
}
