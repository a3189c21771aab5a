import { useEffect, useState } from "preact/hooks";
import { loadWorkspaces, refreshWorkspaces, workspaces, workspacesFailure } from "../../model/workspaces.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { CreateWorkspace } from "../settings/create-workspace.tsx";
import { WorkspaceCard } from "./workspace-card.tsx";

/** Workspaces whose projects are loaded immediately. Others load on demand. */
const OPENED = 10;

export function WorkspaceList() {
  const [isCreating, setCreating] = useState(false);
  const failure = workspacesFailure.value;
  const known = workspaces.value;
  useEffect(() => {
    // Another member may have changed the user's role, which the cards show.
    refreshWorkspaces();
  }, []);
  return (
    <Page title="Your workspaces" actions={<Button onClick={() => setCreating(true)}>Create workspace</Button>}>
      {failure ? <Failure failure={failure} onRetry={() => void loadWorkspaces()} /> : null}
      {known === null && failure === null ? <Loading /> : null}
      {known?.length === 0 ? (
        <Empty title="No workspaces">
          <p>Create one or ask for an invitation.</p>
        </Empty>
      ) : null}
      {known?.map((workspace, index) => (
        <WorkspaceCard key={workspace.id} workspace={workspace} isOpen={index < OPENED} />
      ))}
      {isCreating ? <CreateWorkspace onClose={() => setCreating(false)} /> : null}
    </Page>
  );
}
