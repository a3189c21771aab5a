import { useState } from "preact/hooks";
import { fieldError, useAction } from "../lib/action.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { Row } from "./page.tsx";
import { Problem } from "./problem.tsx";

interface NameDialogProps {
  title: string;
  action: string;
  /** The current name; absent for something new. */
  name?: string;
  hint: string;
  /** Whether an empty name, which removes it, is accepted. */
  isOptional?: boolean;
  onSave: (name: string) => Promise<void>;
  onClose: () => void;
}

/** Dialog for a name. */
export function NameDialog({ title, action, name: before = "", onSave, onClose, ...rest }: NameDialogProps) {
  const { hint, isOptional = false } = rest;
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
        <Field label="Name" hint={hint} error={fieldError(saving.failure, "name")}>
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Problem failure={saving.failure} fields={["name"]} />
        <Row>
          <Button type="submit" look="primary" busy={saving.busy} disabled={!isOptional && name.trim() === ""}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
