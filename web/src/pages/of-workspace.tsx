import type { ComponentChildren } from "preact";
import { Fragment } from "preact";
import { useRoute } from "preact-iso";
import type { Workspace } from "../model/types.ts";
import { knownWorkspace, loadWorkspaces, workspaces, workspacesFailure } from "../model/workspaces.ts";
import { Page } from "../ui/page.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";

interface OfWorkspaceProps {
  /** Title of the page while there is no workspace to show. */
  title: string;
  children: (workspace: Workspace) => ComponentChildren;
}

/** A page of the workspace in the address, mounted again for another one. */
export function OfWorkspace({ title, children }: OfWorkspaceProps) {
  const { workspaceId = "" } = useRoute().params;
  const workspace = knownWorkspace(workspaceId);
  if (workspace) return <Fragment key={workspace.id}>{children(workspace)}</Fragment>;
  const failure = workspacesFailure.value;
  return (
    <Page title={title}>
      {failure ? <Failure failure={failure} onRetry={() => void loadWorkspaces()} /> : null}
      {workspaces.value !== null ? (
        <Empty title="Workspace not found">
          <p>It does not exist or you are not a member.</p>
          <a href="/">Your workspaces</a>
        </Empty>
      ) : failure ? null : (
        <Loading />
      )}
    </Page>
  );
}
