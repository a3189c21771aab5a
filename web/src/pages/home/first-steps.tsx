import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { ableTo, reasonAgainst } from "../../model/roles.ts";
import type { Project, Workspace } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";
import { ProjectName } from "../settings/project-name.tsx";
import css from "./home.module.css";

/** What to do in a workspace that has no project. */
export function FirstSteps({ workspace }: { workspace: Workspace }) {
  const { route } = useLocation();
  const [isCreating, setCreating] = useState(false);
  const reason = reasonAgainst(workspace.role, "project.create");
  const mayMakeKeys = reasonAgainst(workspace.role, "key.create") === null;
  if (reason !== null) return <p>No project yet. Ask {ableTo("project.create")} to create one.</p>;
  return (
    <>
      <p>No project yet. Three steps to the first entry:</p>
      <ol class={css.steps}>
        <li>Create a project. Each application, or part of one, has its own.</li>
        <li>
          {mayMakeKeys
            ? "Create an API key for it. It is shown once, with a line that works as it stands."
            : `Ask ${ableTo("key.create")} for an API key for it.`}
        </li>
        <li>Send an entry, and see it among the logs.</li>
      </ol>
      <Row>
        <Button look="primary" onClick={() => setCreating(true)}>
          Create a project
        </Button>
      </Row>
      {isCreating ? (
        <ProjectName
          title="Create a project"
          action="Create"
          onSave={async (name) => {
            const { data } = await authorized<Project>("/projects", { workspaceId: workspace.id, body: { name } });
            if (mayMakeKeys) {
              toast(`${data.name} is there. Create a key for it next.`);
              route(`/w/${workspace.id}/settings/keys?project=${data.id}`);
            } else {
              toast(`${data.name} is there.`);
              // Its page says how to go on.
              route(`/w/${workspace.id}/p/${data.id}`);
            }
          }}
          onClose={() => setCreating(false)}
        />
      ) : null}
    </>
  );
}
