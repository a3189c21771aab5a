import { useState } from "preact/hooks";
import { SCOPES, type Scope } from "../../../../../src/keys/scopes.ts";
import { fieldError, useAction } from "../../../lib/action.ts";
import type { MadeKey, Project } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import choices from "../../../ui/choices.module.css";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Select } from "../../../ui/select.tsx";

const DAY_MS = 86_400_000;
const EXPIRIES = [
  { value: "never", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "180", label: "In 180 days" },
  { value: "date", label: "Custom date" },
] as const;

const MEANING: Record<Scope, string> = {
  "logs:write": "Send entries",
  "logs:read": "Query, count and follow entries",
  "alerts:read": "Read alerts and what they decided",
  "alerts:write": "Create, change and delete alerts",
};

interface CreateKeyProps {
  workspaceId: string;
  project: Project;
  onMade: (key: MadeKey) => void;
  onClose: () => void;
}

export function CreateKey({ workspaceId, project, onMade, onClose }: CreateKeyProps) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["logs:write"]);
  const [expiry, setExpiry] = useState("never");
  const [date, setDate] = useState("");
  const creating = useAction(async () => {
    const body = { name, scopes, expiresAt: expiryOf(expiry, date, Date.now()) };
    onMade((await authorized<MadeKey>(`/projects/${project.id}/keys`, { workspaceId, body })).data);
  });
  const isReady = name.trim() !== "" && scopes.length > 0 && (expiry !== "date" || date !== "");
  return (
    <Dialog title={`Create API key for ${project.name}`} onClose={onClose} closeOnBackdrop={false}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void creating.run();
        }}
      >
        <Field
          label="Name"
          hint="For example the server or job that will use the key."
          error={fieldError(creating.failure, "name")}
        >
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <fieldset class={choices.choices}>
          <legend>Scopes</legend>
          {SCOPES.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={(event) => {
                  const isOn = event.currentTarget.checked;
                  setScopes(SCOPES.filter((each) => (each === scope ? isOn : scopes.includes(each))));
                }}
              />
              <span>
                {MEANING[scope]} <code>{scope}</code>
              </span>
            </label>
          ))}
        </fieldset>
        <Field label="Expires" error={expiry === "date" ? undefined : fieldError(creating.failure, "expiresAt")}>
          {(props) => <Select {...props} value={expiry} options={EXPIRIES} onChange={setExpiry} />}
        </Field>
        {expiry === "date" ? (
          <Field
            label="Last day"
            hint="Valid until the end of that day, at most 365 days from now."
            error={fieldError(creating.failure, "expiresAt")}
          >
            {(props) => (
              <input {...props} type="date" value={date} onInput={(event) => setDate(event.currentTarget.value)} />
            )}
          </Field>
        ) : null}
        <Problem failure={creating.failure} fields={["name", "expiresAt"]} />
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

/** Expiry of the key in epoch milliseconds; `null` for never. A date ends at midnight in the local time zone. */
function expiryOf(expiry: string, date: string, now: number): number | null {
  if (expiry === "never") return null;
  if (expiry !== "date") return now + Number(expiry) * DAY_MS;
  const end = new Date(`${date}T00:00:00`);
  end.setDate(end.getDate() + 1);
  return end.getTime();
}
