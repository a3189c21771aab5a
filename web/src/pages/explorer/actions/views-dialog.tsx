import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Project } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Item, Items } from "../../../ui/items.tsx";
import { Row } from "../../../ui/page.tsx";
import { deleteView, renameView, type SavedView, savedViews, saveView, viewPath, viewsVersion } from "./saved-views.ts";

interface ViewsDialogProps {
  workspaceId: string;
  projectId: string | null;
  projects: readonly Project[];
  /** The current view's query string. */
  search: string;
  onClose: () => void;
}

export function ViewsDialog({ workspaceId, projectId, projects, search, onClose }: ViewsDialogProps) {
  const [name, setName] = useState("");
  // Subscribes to changes, also from other tabs.
  void viewsVersion.value;
  const views = savedViews(workspaceId);
  const trimmed = name.trim();
  return (
    <Dialog title="Saved views" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (trimmed === "") return;
          if (saveView(workspaceId, { name: trimmed, projectId, search })) setName("");
        }}
      >
        <Field label="Save this view as" hint="Filters, time range and project. Stored in this browser.">
          {(props) => (
            <input
              {...props}
              value={name}
              maxLength={80}
              autocomplete="off"
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
        <Row>
          <Button type="submit" look="primary" disabled={trimmed === ""}>
            {views.some((view) => view.name === trimmed) ? "Replace" : "Save"}
          </Button>
        </Row>
      </form>
      {views.length === 0 ? (
        <p>No saved views yet.</p>
      ) : (
        <Items label="Saved views">
          {views.map((view) => (
            <SavedItem
              key={view.id}
              workspaceId={workspaceId}
              view={view}
              where={projectText(view.projectId, projects)}
              onClose={onClose}
            />
          ))}
        </Items>
      )}
    </Dialog>
  );
}

function SavedItem({
  workspaceId,
  view,
  where,
  onClose,
}: {
  workspaceId: string;
  view: SavedView;
  where: string;
  onClose: () => void;
}) {
  const { route } = useLocation();
  const [name, setName] = useState<string | null>(null);
  if (name !== null) {
    return (
      <Item
        title={
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (name.trim() !== "") renameView(workspaceId, view.id, name.trim());
              setName(null);
            }}
          >
            <Row>
              <input
                aria-label="New name"
                value={name}
                maxLength={80}
                autocomplete="off"
                ref={(input) => input?.focus()}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
              <Button small type="submit" disabled={name.trim() === ""}>
                Rename
              </Button>
              <Button small onClick={() => setName(null)}>
                Cancel
              </Button>
            </Row>
          </form>
        }
      />
    );
  }
  return (
    <Item
      title={
        <a
          href={viewPath(workspaceId, view)}
          onClick={(event) => {
            event.preventDefault();
            event.stopPropagation();
            onClose();
            route(viewPath(workspaceId, view));
          }}
        >
          {view.name}
        </a>
      }
      facts={[["Project", where]]}
      actions={
        <>
          <Button small aria-label={`Rename ${view.name}`} onClick={() => setName(view.name)}>
            Rename
          </Button>
          <Button
            small
            look="danger"
            aria-label={`Delete ${view.name}`}
            onClick={() => deleteView(workspaceId, view.id)}
          >
            Delete
          </Button>
        </>
      }
    />
  );
}

function projectText(projectId: string | null, projects: readonly Project[]): string {
  if (projectId === null) return "All projects";
  return projects.find(({ id }) => id === projectId)?.name ?? projectId;
}
