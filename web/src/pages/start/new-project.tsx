import { useEffect, useRef, useState } from "preact/hooks";
import { fieldError, useAction } from "../../lib/action.ts";
import { ableTo } from "../../model/roles.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";

interface NewProjectProps {
  mayMakeKeys: boolean;
  onCreate: (name: string) => Promise<void>;
}

/** Names the project, and creates it with a key in one step. */
export function NewProject({ mayMakeKeys, onCreate }: NewProjectProps) {
  const [name, setName] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const creating = useAction(async () => onCreate(name.trim()));
  return (
    <Card>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") void creating.run();
        }}
      >
        <Field
          label="Name of the project"
          hint={
            mayMakeKeys
              ? "Usually the application, for example shop."
              : `Ask ${ableTo("key.create")} for an API key of it afterwards.`
          }
          error={fieldError(creating.failure, "name")}
        >
          {(props) => (
            <input
              {...props}
              ref={input}
              value={name}
              maxLength={100}
              autocomplete="off"
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Problem failure={creating.failure} fields={["name"]} />
        <Row>
          <Button type="submit" look="primary" busy={creating.busy} disabled={name.trim() === ""}>
            {mayMakeKeys ? "Create project and key" : "Create project"}
          </Button>
        </Row>
      </form>
    </Card>
  );
}
