import { useState } from "preact/hooks";
import { fieldError, useAction } from "../../../lib/action.ts";
import { type ApiKey, DEDUPE, MAPPED_PARTS, type MappedPart } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Select } from "../../../ui/select.tsx";
import css from "./keys.module.css";

const DEDUPE_LABELS: Readonly<Record<ApiKey["dedupe"], string>> = {
  auto: "Automatic: if records have ids or exact times",
  always: "Always",
  never: "Never",
  record: "Each record with a time",
};

const PART_LABELS: Readonly<Record<MappedPart, string>> = {
  message: "Message",
  time: "Time",
  level: "Level",
  service: "Service",
  host: "Host",
  traceId: "Trace id",
  spanId: "Span id",
  session: "Session",
  category: "Category",
  type: "Type",
};

interface KeySettingsProps {
  workspaceId: string;
  apiKey: ApiKey;
  onChanged: () => void;
  onClose: () => void;
}

/** The name of a key, and how entries of other clients are read that are sent with it. */
export function KeySettings({ workspaceId, apiKey, onChanged, onClose }: KeySettingsProps) {
  const [name, setName] = useState(apiKey.name);
  const [dedupe, setDedupe] = useState(apiKey.dedupe);
  const [mapping, setMapping] = useState<Readonly<Record<MappedPart, string>>>(() => textsOf(apiKey.mapping));
  const [secret, setSecret] = useState("");
  const [removesSecret, setRemovesSecret] = useState(false);
  const saving = useAction(async () => {
    const body = {
      name,
      dedupe,
      mapping: mappingOf(mapping),
      ...(secret !== "" ? { vercelSecret: secret } : removesSecret ? { vercelSecret: null } : {}),
    };
    const path = `/projects/${apiKey.projectId}/keys/${apiKey.id}`;
    await authorized(path, { method: "PATCH", workspaceId, body });
    onChanged();
  });
  return (
    <Dialog title={`Settings of ${apiKey.name}`} shape="panel" onClose={onClose} closeOnBackdrop={false}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") void saving.run();
        }}
      >
        <Field label="Name" error={fieldError(saving.failure, "name")}>
          {(props) => (
            <input {...props} value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <p>
          The settings below concern entries in the protocols of other clients, such as OpenTelemetry, Loki or syslog.
          They hold from the next request on.
        </p>
        <Field label="Store repeated requests once" error={fieldError(saving.failure, "dedupe")}>
          {(props) => (
            <Select
              {...props}
              value={dedupe}
              options={DEDUPE.map((value) => ({ value, label: DEDUPE_LABELS[value] }))}
              onChange={(value) => setDedupe(DEDUPE.find((each) => each === value) ?? dedupe)}
            />
          )}
        </Field>
        <fieldset class={css.mapping}>
          <legend>Names of members</legend>
          <p>
            Read before the usual names, in this order, separated by commas. <code>a.b</code> is a nested member.
          </p>
          {MAPPED_PARTS.map((part) => (
            <Field key={part} label={PART_LABELS[part]} error={mappingError(saving.failure, part)}>
              {(props) => (
                <input
                  {...props}
                  value={mapping[part]}
                  spellcheck={false}
                  autocomplete="off"
                  placeholder="usual names"
                  onInput={({ currentTarget: { value } }) => setMapping((before) => ({ ...before, [part]: value }))}
                />
              )}
            </Field>
          ))}
        </fieldset>
        <Field
          label="Signature secret of a Vercel drain"
          hint={
            apiKey.hasVercelSecret
              ? "Set. Bodies without its signature are refused. A new one replaces it."
              : "Optional. Bodies without its signature are refused then."
          }
          error={fieldError(saving.failure, "vercelSecret")}
        >
          {(props) => (
            <input
              {...props}
              type="password"
              autocomplete="off"
              value={secret}
              maxLength={200}
              onInput={(event) => setSecret(event.currentTarget.value)}
            />
          )}
        </Field>
        {apiKey.hasVercelSecret ? (
          <label class={css.check}>
            <input
              type="checkbox"
              checked={removesSecret}
              disabled={secret !== ""}
              onChange={(event) => setRemovesSecret(event.currentTarget.checked)}
            />
            Remove the secret
          </label>
        ) : null}
        <Problem failure={saving.failure} fields={["name", "dedupe", "vercelSecret"]} />
        <Row>
          <Button type="submit" look="primary" busy={saving.busy} disabled={name.trim() === ""}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}

function textsOf(mapping: ApiKey["mapping"]): Record<MappedPart, string> {
  // SAFETY: an entry for each part.
  return Object.fromEntries(MAPPED_PARTS.map((part) => [part, mapping[part]?.join(", ") ?? ""])) as Record<
    MappedPart,
    string
  >;
}

function mappingOf(texts: Readonly<Record<MappedPart, string>>): ApiKey["mapping"] {
  const lists = MAPPED_PARTS.map((part) => {
    const names = texts[part].split(",").map((name) => name.trim());
    return [part, names.filter((name) => name !== "")] as const;
  });
  return Object.fromEntries(lists.filter(([, names]) => names.length > 0));
}

/** The service names the place of a wrong name: `mapping.time.2`. */
function mappingError(failure: Parameters<typeof fieldError>[0], part: MappedPart): string | undefined {
  const path = failure?.details.find(({ path }) => path === `mapping.${part}` || path.startsWith(`mapping.${part}.`));
  return path && fieldError(failure, path.path);
}
