import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { may } from "../../../../src/workspace/permissions.ts";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { boardCalls } from "../../model/boards.ts";
import { loadProjects, workspaces } from "../../model/workspaces.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { visible } from "../explorer/view/visible.ts";
import { NewBoardFields } from "./new-board-fields.tsx";

/** The boards of a workspace. */
export function Boards() {
  const { workspaceId = "" } = useRoute().params;
  const boards = useLoad(workspaceId, (signal) => boardCalls.list(workspaceId, signal));
  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const [isCreating, setCreating] = useState(false);
  const role = workspaces.value?.find(({ id }) => id === workspaceId)?.role;
  const mayCreate = role !== undefined && may(role, "board.create");
  const nameOf = (id: string | null) =>
    id === null ? "All projects" : (projects.data?.find((project) => project.id === id)?.name ?? id);
  const create = mayCreate ? (
    <Button look="primary" onClick={() => setCreating(true)}>
      New board
    </Button>
  ) : null;
  return (
    <Page title="Boards" actions={boards.data?.length === 0 ? null : create}>
      {boards.failure === null ? null : <Failure failure={boards.failure} onRetry={boards.reload} />}
      {boards.data === null && boards.failure === null ? <Loading /> : null}
      {boards.data?.length === 0 ? (
        <Empty title="No boards">
          <p>A board shows queries side by side. Each new project has one.</p>
          {create}
        </Empty>
      ) : null}
      {boards.data === null || boards.data.length === 0 ? null : (
        <Card>
          <Items label="Boards">
            {boards.data.map(({ id, name, projectId, updatedAt }) => (
              <Item
                key={id}
                title={<a href={`/w/${workspaceId}/boards/${id}`}>{visible(name)}</a>}
                facts={[
                  ["Project", visible(nameOf(projectId))],
                  ["Changed", <Time key="at" at={updatedAt} />],
                ]}
              />
            ))}
          </Items>
        </Card>
      )}
      {isCreating ? (
        <NewBoard workspaceId={workspaceId} projects={projects.data ?? []} onClose={() => setCreating(false)} />
      ) : null}
    </Page>
  );
}

interface NewBoardProps {
  workspaceId: string;
  projects: readonly { id: string; name: string }[];
  onClose: () => void;
}

function NewBoard({ workspaceId, projects, onClose }: NewBoardProps) {
  const { route } = useLocation();
  const [name, setName] = useState("");
  const [projectId, setProjectId] = useState<string | null>(projects[0]?.id ?? null);
  const creating = useAction(async () => {
    const { id } = await boardCalls.create(workspaceId, { name: name.trim(), projectId, panels: [] });
    route(`/w/${workspaceId}/boards/${id}`);
  });
  return (
    <Dialog title="New board" onClose={onClose} closeOnBackdrop={name === ""}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") void creating.run();
        }}
      >
        <NewBoardFields
          name={name}
          onName={setName}
          projectId={projectId}
          onProject={setProjectId}
          projects={projects}
        />
        <Problem failure={creating.failure} />
        <Row>
          <Button type="submit" look="primary" busy={creating.busy} disabled={name.trim() === ""}>
            Create
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
