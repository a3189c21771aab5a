import { useState } from "preact/hooks";
import { SCOPES, type Scope } from "../../../../../src/keys/scopes.ts";
import { fieldError, useAction } from "../../../lib/action.ts";
import type { MadeKey, Project } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import css from "./keys.module.css";

const DAY_MS = 86_400_000;
const LIVES = [
  { value: "never", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "180", label: "In 180 days" },
  { value: "date", label: "On a day …" },
] as const;

const MEANING: Record<Scope, string> = {
  "logs:write": "Send entries",
  "logs:read": "Query entries, count them and follow them live",
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
  const [life, setLife] = useState("never");
  const [date, setDate] = useState("");
  const creating = useAction(async () => {
    const body = { name, scopes, expiresAt: endOf(life, date, Date.now()) };
    onMade((await authorized<MadeKey>(`/projects/${project.id}/keys`, { workspaceId, body })).data);
  });
  const isReady = name.trim() !== "" && scopes.length > 0 && (life !== "date" || date !== "");
  return (
    <Dialog title={`Create a key for ${project.name}`} onClose={onClose} closeOnBackdrop={false}>
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
          hint="Where the key is going to be used: a server, a job, a colleague."
          error={fieldError(creating.failure, "name")}
        >
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <fieldset class={css.choices}>
          <legend>It may</legend>
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
        <Field label="Ends" error={life === "date" ? undefined : fieldError(creating.failure, "expiresAt")}>
          {(props) => (
            <select {...props} value={life} onChange={(event) => setLife(event.currentTarget.value)}>
              {LIVES.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        {life === "date" ? (
          <Field
            label="Last day"
            hint="It works until that day ends here. At most 365 days from now."
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
            Create the key
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}

/** Epoch milliseconds at which the key ends; null for never. A day ends at midnight of the local zone. */
function endOf(life: string, date: string, now: number): number | null {
  if (life === "never") return null;
  if (life !== "date") return now + Number(life) * DAY_MS;
  const end = new Date(`${date}T00:00:00`);
  end.setDate(end.getDate() + 1);
  return end.getTime();
}
