import { useEffect, useState } from "preact/hooks";
import { loadProfile } from "../../model/account.ts";
import { loadWorkspaces, refreshWorkspaces, workspaces, workspacesFailure } from "../../model/workspaces.ts";
import { user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { ConfirmationNotice } from "../auth/confirmation.tsx";
import { CreateWorkspace } from "../settings/create-workspace.tsx";
import { useCards } from "./card-order.ts";
import { WorkspaceCard } from "./workspace-card.tsx";

export function WorkspaceList() {
  const [isCreating, setCreating] = useState(false);
  const failure = workspacesFailure.value;
  const known = workspaces.value;
  const cards = useCards(known);
  const isConfirmed = user.value?.emailVerified;
  useEffect(() => {
    // A sign-in by password does not say. Once: what it says is stored, and of many tabs opened at once the first one asks.
    if (isConfirmed !== undefined) return;
    void navigator.locks.request("taffrail.profile", async () => {
      if (user.peek()?.emailVerified === undefined) await loadProfile().catch(() => undefined);
    });
  }, []);
  useEffect(() => {
    // Another member may have changed the user's role, which the cards show.
    refreshWorkspaces();
  }, []);
  return (
    <Page title="Your workspaces" actions={<Button onClick={() => setCreating(true)}>Create workspace</Button>}>
      {isConfirmed === undefined ? null : <ConfirmationNotice />}
      {failure ? <Failure failure={failure} onRetry={() => void loadWorkspaces()} /> : null}
      {cards === null && failure === null ? <Loading /> : null}
      {known?.length === 0 ? (
        <Empty title="No workspaces">
          <p>Create one or ask for an invitation.</p>
        </Empty>
      ) : null}
      {cards?.map(({ workspace, ...card }) => (
        <WorkspaceCard key={workspace.id} workspace={workspace} {...card} />
      ))}
      {isCreating ? <CreateWorkspace onClose={() => setCreating(false)} /> : null}
    </Page>
  );
}
