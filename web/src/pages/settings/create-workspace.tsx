import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { fieldError, useAction } from "../../lib/action.ts";
import type { Workspace } from "../../model/types.ts";
import { loadWorkspaces } from "../../model/workspaces.ts";
import { authorized, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem, Unverified } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";

/** Creates a workspace and opens its projects, where the first one is created. */
export function CreateWorkspace({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Create workspace" onClose={onClose} closeOnBackdrop={false}>
      {user.value?.emailVerified === false ? (
        <>
          <Unverified />
          <Row>
            <Button onClick={onClose}>Cancel</Button>
          </Row>
        </>
      ) : (
        <NewWorkspace onClose={onClose} />
      )}
    </Dialog>
  );
}

function NewWorkspace({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState("");
  const [slug, setSlug] = useState("");
  const creating = useAction(async () => {
    const body = { name, ...(slug === "" ? {} : { slug }) };
    const { data } = await authorized<Workspace>("/workspaces", { body });
    await loadWorkspaces();
    toast(`Created ${data.name}.`);
    onClose();
    route(`/w/${data.id}/settings/projects`);
  });
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void creating.run();
      }}
    >
      <Field label="Name" error={fieldError(creating.failure, "name")}>
        {(props) => (
          <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
        )}
      </Field>
      <Field
        label="Slug (optional)"
        hint="Lowercase letters, digits and single hyphens. Generated from the name if empty. Cannot be changed later."
        error={fieldError(creating.failure, "slug")}
      >
        {(props) => (
          <input
            {...props}
            value={slug}
            maxLength={40}
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => setSlug(event.currentTarget.value)}
          />
        )}
      </Field>
      <Problem failure={creating.failure} fields={["name", "slug"]} />
      <Row>
        <Button type="submit" look="primary" busy={creating.busy} disabled={name.trim() === ""}>
          Create
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </Row>
    </form>
  );
}
