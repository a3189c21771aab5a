import { useState } from "preact/hooks";
import { fieldError, useAction } from "../../../lib/action.ts";
import type { CreatedDestination } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Select } from "../../../ui/select.tsx";
import { type Input, KINDS, type Kind } from "./kinds.ts";

// SAFETY: the keys of a literal of `Record<Kind, …>`.
const KIND_OPTIONS = (Object.keys(KINDS) as Kind[]).map((kind) => ({ value: kind, label: KINDS[kind].label }));

interface CreateDestinationProps {
  path: string;
  onCreated: (made: CreatedDestination) => void;
  onClose: () => void;
}

export function CreateDestination({ path, onCreated, onClose }: CreateDestinationProps) {
  const [kind, setKind] = useState<Kind>("webhook");
  const [name, setName] = useState("");
  const [values, setValues] = useState<Readonly<Partial<Record<Input["name"], string>>>>({});
  const [canary, setCanary] = useState(false);
  const { inputs, hasCanary } = KINDS[kind];
  const creating = useAction(async () => {
    const given = inputs.flatMap((input) => {
      const value = values[input.name]?.trim() ?? "";
      return value === "" ? [] : [[input.name, value] as const];
    });
    const body = { kind, name, ...Object.fromEntries(given), ...(hasCanary ? { canary } : {}) };
    onCreated((await authorized<CreatedDestination>(path, { body })).data);
  });
  const isReady =
    name.trim() !== "" && inputs.every((input) => input.isOptional || (values[input.name] ?? "").trim() !== "");
  return (
    <Dialog title="Create destination" onClose={onClose} closeOnBackdrop={false}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void creating.run();
        }}
      >
        <Field label="Kind">
          {(props) => <Select {...props} value={kind} options={KIND_OPTIONS} onChange={setKind} />}
        </Field>
        <Field label="Name" error={fieldError(creating.failure, "name")}>
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        {inputs.map((input) => (
          <Field
            key={`${kind} ${input.name}`}
            label={input.label}
            hint={input.hint}
            error={fieldError(creating.failure, input.name)}
          >
            {(props) => (
              <input
                {...props}
                inputmode={input.type}
                value={values[input.name] ?? ""}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setValues({ ...values, [input.name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
        {hasCanary ? (
          <label>
            <input type="checkbox" checked={canary} onChange={(event) => setCanary(event.currentTarget.checked)} />{" "}
            Daily canary
          </label>
        ) : null}
        <Problem failure={creating.failure} fields={["name", ...inputs.map((input) => input.name)]} />
        <Row>
          <Button type="submit" look="primary" busy={creating.busy} disabled={!isReady}>
            Create
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
