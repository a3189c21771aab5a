import { Page, Row } from "../../ui/page.tsx";

/**
 * A workspace or project that does not exist, was deleted or belongs to another user. The service does not distinguish
 * them.
 */
export function NotFoundInExplorer({ workspaceId }: { workspaceId: string | null }) {
  if (workspaceId === null) {
    return (
      <Page title="Workspace not found">
        <p>It does not exist or you are not a member.</p>
        <Row>
          <a href="/">Your workspaces</a>
        </Row>
      </Page>
    );
  }
  return (
    <Page title="Project not found">
      <p>It does not exist in this workspace or was deleted.</p>
      <Row>
        <a href={`/w/${workspaceId}`}>All projects</a>
        <a href="/">Your workspaces</a>
      </Row>
    </Page>
  );
}
