import { useState } from "preact/hooks";
import { fieldError, useAction } from "../../../lib/action.ts";
import type { CreatedDestination, Destination } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Select } from "../../../ui/select.tsx";
import { changeOf, type Input, type InputValues, inputsOf, KINDS, type Kind, shownValue } from "./kinds.ts";

// SAFETY: the keys of a literal of `Record<Kind, …>`.
const KIND_OPTIONS = (Object.keys(KINDS) as Kind[]).map((kind) => ({ value: kind, label: KINDS[kind].label }));

interface DestinationFormProps {
  path: string;
  /** The destination to change; `null` creates one. */
  destination: Destination | null;
  /** `saved` is the created or changed destination. */
  onSaved: (saved: CreatedDestination | Destination) => void;
  onClose: () => void;
}

/** Creates or changes a destination. A change leaves secrets as they are unless new ones are given. */
export function DestinationForm({ path, destination, onSaved, onClose }: DestinationFormProps) {
  const [kind, setKind] = useState<Kind>(destination?.kind ?? "webhook");
  const [name, setName] = useState(destination?.name ?? "");
  const [values, setValues] = useState<InputValues>({});
  const [canary, setCanary] = useState(destination?.canary ?? false);
  const [removesHeader, setRemovesHeader] = useState(false);
  const { hasCanary } = KINDS[kind];
  const inputs = inputsOf(kind, destination);
  const textOf = (input: Input): string => values[input.name] ?? shownValue(input, destination);
  const saving = useAction(async () => {
    const own = { name, ...(hasCanary ? { canary } : {}) };
    if (destination !== null) {
      const { version, id } = destination;
      const change = changeOf(destination, values);
      const body = { version, ...own, ...change, ...(removesHeader ? { authorization: null } : {}) };
      return onSaved((await authorized<Destination>(`${path}/${id}`, { method: "PATCH", body })).data);
    }
    const given = inputs.map((input) => [input.name, textOf(input).trim()]).filter(([, value]) => value !== "");
    const body = { kind, ...own, ...Object.fromEntries(given) };
    onSaved((await authorized<CreatedDestination>(path, { body })).data);
  });
  const isReady = name.trim() !== "" && inputs.every((input) => input.isOptional || textOf(input).trim() !== "");
  return (
    <Dialog
      title={destination === null ? "Create destination" : `Edit ${destination.name}`}
      onClose={onClose}
      closeOnBackdrop={false}
    >
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void saving.run();
        }}
      >
        {destination === null ? (
          <Field label="Kind">
            {(props) => <Select {...props} value={kind} options={KIND_OPTIONS} onChange={setKind} />}
          </Field>
        ) : null}
        <Field label="Name" error={fieldError(saving.failure, "name")}>
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        {inputs.map((input) => (
          <Field
            key={`${kind} ${input.name}`}
            label={input.label}
            hint={input.hint}
            error={fieldError(saving.failure, input.name)}
          >
            {(props) => (
              <input
                {...props}
                inputmode={input.type}
                value={textOf(input)}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setValues({ ...values, [input.name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
        {kind === "alertmanager" && destination?.hasSecret ? (
          <label>
            <input
              type="checkbox"
              checked={removesHeader}
              disabled={(values.authorization ?? "") !== ""}
              onChange={(event) => setRemovesHeader(event.currentTarget.checked)}
            />{" "}
            Remove authorization
          </label>
        ) : null}
        {hasCanary ? (
          <label>
            <input type="checkbox" checked={canary} onChange={(event) => setCanary(event.currentTarget.checked)} />{" "}
            Daily canary
          </label>
        ) : null}
        <Problem failure={saving.failure} fields={["name", ...inputs.map((input) => input.name)]} />
        <Row>
          <Button type="submit" look="primary" busy={saving.busy} disabled={!isReady}>
            {destination === null ? "Create" : "Save"}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
