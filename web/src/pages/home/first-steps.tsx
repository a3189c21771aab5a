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

/** First steps in a workspace without a project. */
export function FirstSteps({ workspace }: { workspace: Workspace }) {
  const { route } = useLocation();
  const [isCreating, setCreating] = useState(false);
  const reason = reasonAgainst(workspace.role, "project.create");
  const mayMakeKeys = reasonAgainst(workspace.role, "key.create") === null;
  if (reason !== null) return <p>No projects yet. Ask {ableTo("project.create")} to create one.</p>;
  return (
    <>
      <p>No projects yet. Three steps to the first entry:</p>
      <ol class={css.steps}>
        <li>Create a project, usually one per application.</li>
        <li>
          {mayMakeKeys
            ? "Create an API key. It is shown once, with a command to send an entry."
            : `Ask ${ableTo("key.create")} for an API key.`}
        </li>
        <li>Send an entry and find it in the logs.</li>
      </ol>
      <Row>
        <Button look="primary" onClick={() => setCreating(true)}>
          Create project
        </Button>
      </Row>
      {isCreating ? (
        <ProjectName
          title="Create project"
          action="Create"
          onSave={async (name) => {
            const { data } = await authorized<Project>("/projects", { workspaceId: workspace.id, body: { name } });
            if (mayMakeKeys) {
              toast(`Created ${data.name}. Create an API key next.`);
              route(`/w/${workspace.id}/settings/keys?project=${data.id}`);
            } else {
              toast(`Created ${data.name}.`);
              // The project's page shows the next step.
              route(`/w/${workspace.id}/p/${data.id}`);
            }
          }}
          onClose={() => setCreating(false)}
        />
      ) : null}
    </>
  );
}
