import { useAction } from "../../lib/action.ts";
import { ableTo, reasonAgainst } from "../../model/roles.ts";
import type { MadeKey, Project, Workspace } from "../../model/types.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { createKey } from "./create-key.ts";

interface MissingKeyProps {
  workspace: Workspace;
  project: Project;
  onMade: (key: MadeKey) => void;
}

/** Shown if the page has no secret, for example after a reload. */
export function MissingKey({ workspace, project, onMade }: MissingKeyProps) {
  const creating = useAction(async () => onMade(await createKey(workspace.id, project)));
  if (reasonAgainst(workspace.role, "key.create") !== null) {
    return (
      <Card>
        <p>
          Ask {ableTo("key.create")} for an API key of {project.name}, and put it in place of <code>sk_...</code>.
        </p>
      </Card>
    );
  }
  return (
    <Card>
      <p>
        A key is shown only when it is created. Create one for {project.name}, or put one that you have in place of{" "}
        <code>sk_...</code>.
      </p>
      <Row>
        <Button look="primary" busy={creating.busy} onClick={() => creating.run()}>
          Create key
        </Button>
        <a href={`/w/${workspace.id}/settings/keys?project=${project.id}`}>API keys</a>
      </Row>
      <Problem failure={creating.failure} />
    </Card>
  );
}
