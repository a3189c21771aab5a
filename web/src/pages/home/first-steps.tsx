import { ableTo, reasonAgainst } from "../../model/roles.ts";
import type { Workspace } from "../../model/types.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";

/** First steps in a workspace without a project. */
export function FirstSteps({ workspace }: { workspace: Workspace }) {
  if (reasonAgainst(workspace.role, "project.create") !== null) {
    return <p>No projects yet. Ask {ableTo("project.create")} to create one.</p>;
  }
  const mayMakeKeys = reasonAgainst(workspace.role, "key.create") === null;
  return (
    <>
      <p>
        No projects yet. Create one and send its first entry from your language, on one page.
        {mayMakeKeys ? "" : ` Ask ${ableTo("key.create")} for an API key.`}
      </p>
      <Row>
        <a class={buttonClass("primary")} href={`/w/${workspace.id}/start`}>
          Send the first entry
        </a>
      </Row>
    </>
  );
}
