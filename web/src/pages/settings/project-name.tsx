import { useState } from "preact/hooks";
import { fieldError, useAction } from "../../lib/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";

interface ProjectNameProps {
  title: string;
  action: string;
  /** The current name; absent for a new project. */
  name?: string;
  onSave: (name: string) => Promise<void>;
  onClose: () => void;
}

/** Dialog for the name of a project. */
export function ProjectName({ title, action, name: before = "", onSave, onClose }: ProjectNameProps) {
  const [name, setName] = useState(before);
  const saving = useAction(() => onSave(name.trim()));
  return (
    <Dialog title={title} onClose={onClose} closeOnBackdrop={false}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <Field label="Name" hint="For example the name of an application." error={fieldError(saving.failure, "name")}>
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Problem failure={saving.failure} fields={["name"]} />
        <Row>
          <Button type="submit" look="primary" busy={saving.busy} disabled={name.trim() === ""}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
