import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { may } from "../../../../src/workspace/permissions.ts";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { visible } from "../../lib/visible.ts";
import { boardCalls } from "../../model/boards.ts";
import type { Member } from "../../model/types.ts";
import { allOf, knownWorkspace, loadProjects } from "../../model/workspaces.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import css from "./boards-list.module.css";
import { NewBoardFields } from "./new-board-fields.tsx";

/** Boards above which a field searches the list. */
const SEARCHED = 8;

/** The boards of a workspace. */
export function Boards() {
  const { workspaceId = "" } = useRoute().params;
  const boards = useLoad(workspaceId, (signal) => boardCalls.list(workspaceId, signal));
  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const [isCreating, setCreating] = useState(false);
  const { path, query, route } = useLocation();
  // From the command palette.
  useEffect(() => {
    if (query.new === undefined) return;
    setCreating(true);
    route(path, true);
  }, [query.new]);
  const role = knownWorkspace(workspaceId)?.role;
  const mayCreate = role !== undefined && may(role, "board.create");
  const nameOf = (id: string | null) =>
    id === null ? "All projects" : (projects.data?.find((project) => project.id === id)?.name ?? id);
  const members = useLoad(workspaceId, (signal) =>
    allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal),
  );
  const [wanted, setWanted] = useState("");
  const listed = (boards.data ?? []).map(({ createdBy, ...board }) => ({
    ...board,
    link: `/w/${workspaceId}/boards/${board.id}`,
    project: nameOf(board.projectId),
    // A member who has left has no address here.
    owner: members.data?.find(({ userId }) => userId === createdBy)?.email ?? (members.data === null ? "" : "–"),
  }));
  const word = wanted.trim().toLowerCase();
  const found = listed.filter(({ name, project, owner }) =>
    [name, project, owner].some((text) => text.toLowerCase().includes(word)),
  );
  const create = mayCreate ? (
    <Button look="primary" onClick={() => setCreating(true)}>
      New board
    </Button>
  ) : null;
  return (
    <Page title="Boards" wide actions={boards.data?.length === 0 ? null : create}>
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
          {boards.data.length > SEARCHED ? (
            <div class={css.find}>
              <input
                type="search"
                value={wanted}
                placeholder="Find a board"
                aria-label="Find a board"
                autocomplete="off"
                onInput={({ currentTarget }) => setWanted(currentTarget.value)}
              />
              <p class={css.found} role="status">
                {found.length} of {boards.data.length}
              </p>
            </div>
          ) : null}
          {found.length === 0 ? <p>No board has this name, project or owner.</p> : <BoardTable boards={found} />}
        </Card>
      )}
      {/* It stays while the projects are loaded again after a failure, which would lose what is typed. */}
      {isCreating && mayCreate && (projects.data !== null || projects.failure !== null) ? (
        <NewBoard workspaceId={workspaceId} projects={projects.data ?? []} onClose={() => setCreating(false)} />
      ) : null}
    </Page>
  );
}

interface BoardTableProps {
  boards: readonly { id: string; name: string; link: string; project: string; owner: string; updatedAt: string }[];
}

function BoardTable({ boards }: BoardTableProps) {
  return (
    <ScrollBox label="Boards" isStacked>
      <table>
        <thead>
          <tr>
            <th scope="col">Board</th>
            <th scope="col">Project</th>
            <th scope="col">Owner</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {boards.map(({ id, name, link, project, owner, updatedAt }) => (
            <tr key={id}>
              <td data-label="Board" class={css.name}>
                <a href={link}>{visible(name)}</a>
              </td>
              <td data-label="Project">{visible(project)}</td>
              <td data-label="Owner">{visible(owner)}</td>
              <td data-label="Changed">
                <Time at={updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
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
  /** `undefined` until one is chosen: the projects may still be on their way, and their first one is the default. */
  const [chosen, setChosen] = useState<string | null>();
  const projectId = chosen === undefined ? (projects[0]?.id ?? null) : chosen;
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
        <NewBoardFields name={name} onName={setName} projectId={projectId} onProject={setChosen} projects={projects} />
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
