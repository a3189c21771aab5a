import { Page, Row } from "../../ui/page.tsx";

/** A workspace or project that is not there, or no more, or is somebody else's: the service makes no difference. */
export function Unknown({ workspaceId }: { workspaceId: string | null }) {
  if (workspaceId === null) {
    return (
      <Page title="No such workspace">
        <p>It does not exist, or you are not a member of it.</p>
        <Row>
          <a href="/">See your workspaces</a>
        </Row>
      </Page>
    );
  }
  return (
    <Page title="No such project">
      <p>It does not exist in this workspace, or it was deleted.</p>
      <Row>
        <a href={`/w/${workspaceId}`}>See all projects</a>
        <a href="/">See your workspaces</a>
      </Row>
    </Page>
  );
}
