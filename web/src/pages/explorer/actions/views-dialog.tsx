import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { may } from "../../../../../src/workspace/permissions.ts";
import { failureOf } from "../../../api/failure.ts";
import { useAction } from "../../../lib/action.ts";
import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { viewCalls, type WorkspaceView } from "../../../model/boards.ts";
import type { Project } from "../../../model/types.ts";
import { knownWorkspace } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Item, Items } from "../../../ui/items.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Failure, Loading } from "../../../ui/states.tsx";
import { browserViews, keepBrowserViews, moveBrowserViews, viewBody, viewPath } from "./saved-views.ts";

interface ViewsDialogProps {
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[];
  /** The current view's query string. */
  search: string;
  onClose: () => void;
}

/** Longest name of a view. */
const NAME_MAX = 100;

/** The saved views of the workspace. */
export function ViewsDialog({ workspaceId, projectId, projects, search, onClose }: ViewsDialogProps) {
  const [name, setName] = useState("");
  const views = useLoad(workspaceId, (signal) => viewCalls.list(workspaceId, signal));
  const role = knownWorkspace(workspaceId)?.role;
  const mayChange = role !== undefined && may(role, "view.create");
  const trimmed = name.trim();
  const same = views.data?.find((view) => view.name === trimmed);
  const saving = useAction(async () => {
    const body = { projectId, ...viewBody(search) };
    try {
      if (same) await viewCalls.change(workspaceId, same.id, body);
      else await viewCalls.create(workspaceId, { name: trimmed, ...body });
    } catch (error) {
      // Another tab has saved or deleted one. After an outage or a limit, the views would be refused as well.
      if (["CONFLICT", "NOT_FOUND"].includes(failureOf(error).code)) views.reload();
      throw error;
    }
    setName("");
    views.reload();
  });
  return (
    <Dialog title="Saved views" onClose={onClose}>
      {mayChange ? (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (trimmed !== "") void saving.run();
          }}
        >
          <Field
            label="Save this view as"
            hint="Query, time range, columns and project, for all members. Newest entries come first."
          >
            {(props) => (
              <input
                {...props}
                value={name}
                maxLength={NAME_MAX}
                autocomplete="off"
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          <Problem failure={saving.failure} />
          <Row>
            <Button type="submit" look="primary" busy={saving.busy} disabled={trimmed === ""}>
              {same ? "Replace" : "Save"}
            </Button>
          </Row>
        </form>
      ) : null}
      {mayChange ? <FromBrowser workspaceId={workspaceId} projects={projects} onMoved={views.reload} /> : null}
      {views.failure === null ? null : <Failure failure={views.failure} onRetry={views.reload} />}
      {views.data === null && views.failure === null ? <Loading /> : null}
      {views.data?.length === 0 ? <p>No saved views yet.</p> : null}
      {views.data === null || views.data.length === 0 ? null : (
        <Items label="Saved views">
          {views.data.map((view) => (
            <SavedItem
              key={view.id}
              workspaceId={workspaceId}
              view={view}
              where={projectText(view.projectId, projects)}
              mayChange={mayChange}
              onChanged={views.reload}
              onClose={onClose}
            />
          ))}
        </Items>
      )}
    </Dialog>
  );
}

interface FromBrowserProps {
  workspaceId: string;
  projects: readonly Project[];
  onMoved: () => void;
}

/** Offers to move the views that an earlier version stored in this browser. */
function FromBrowser({ workspaceId, projects, onMoved }: FromBrowserProps) {
  const [views, setViews] = useState(() => browserViews(workspaceId));
  const moving = useAction(async () => {
    try {
      await moveBrowserViews(workspaceId, new Set(projects.map(({ id }) => id)));
    } finally {
      setViews(browserViews(workspaceId));
      onMoved();
    }
  });
  if (views.length === 0) return null;
  return (
    <section class="stack" aria-label="Views of this browser">
      <p>{`In this browser only: ${views.map(({ name }) => visible(name)).join(", ")}`}</p>
      <Problem failure={moving.failure} />
      <Row>
        <Button busy={moving.busy} onClick={() => void moving.run()}>
          Move to workspace
        </Button>
        <Button
          look="danger"
          onClick={() => {
            keepBrowserViews(workspaceId, []);
            setViews([]);
          }}
        >
          Discard
        </Button>
      </Row>
    </section>
  );
}

interface SavedItemProps {
  workspaceId: string;
  view: WorkspaceView;
  where: string;
  mayChange: boolean;
  onChanged: () => void;
  onClose: () => void;
}

function SavedItem({ workspaceId, view, where, mayChange, onChanged, onClose }: SavedItemProps) {
  const { route } = useLocation();
  const [name, setName] = useState<string | null>(null);
  const renaming = useAction(async (next: string) => {
    await viewCalls.change(workspaceId, view.id, { name: next });
    setName(null);
    onChanged();
  });
  const deleting = useAction(async () => {
    await viewCalls.remove(workspaceId, view.id);
    onChanged();
  });
  if (name !== null) {
    return (
      <Item
        title={
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (name.trim() !== "") void renaming.run(name.trim());
            }}
          >
            <Row>
              <input
                aria-label="New name"
                value={name}
                maxLength={NAME_MAX}
                autocomplete="off"
                ref={(input) => input?.focus()}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
              <Button small type="submit" busy={renaming.busy} disabled={name.trim() === ""}>
                Rename
              </Button>
              <Button small onClick={() => setName(null)}>
                Cancel
              </Button>
            </Row>
          </form>
        }
      >
        <Problem failure={renaming.failure} />
      </Item>
    );
  }
  const path = viewPath(workspaceId, view);
  return (
    <Item
      title={
        <a
          href={path}
          onClick={(event) => {
            event.preventDefault();
            event.stopPropagation();
            onClose();
            route(path);
          }}
        >
          {visible(view.name)}
        </a>
      }
      facts={[["Project", where]]}
      actions={
        mayChange ? (
          <>
            <Button small aria-label={`Rename ${view.name}`} onClick={() => setName(view.name)}>
              Rename
            </Button>
            <Button
              small
              look="danger"
              busy={deleting.busy}
              aria-label={`Delete ${view.name}`}
              onClick={() => void deleting.run()}
            >
              Delete
            </Button>
          </>
        ) : null
      }
    >
      <Problem failure={deleting.failure} />
    </Item>
  );
}

function projectText(projectId: string | null, projects: readonly Project[]): string {
  if (projectId === null) return "All projects";
  return projects.find(({ id }) => id === projectId)?.name ?? projectId;
}
