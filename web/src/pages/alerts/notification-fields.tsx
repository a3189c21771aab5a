import { Plus, X } from "lucide";
import { NOTIFICATION_LIMITS } from "../../../../src/alerts/notifications/notification.ts";
import { fillTemplate, USUAL_MESSAGE } from "../../../../src/alerts/template.ts";
import { visible } from "../../lib/visible.ts";
import type { Destination } from "../../model/types.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { KINDS, type Kind, pausedBecause } from "../settings/destinations/kinds.ts";
import css from "./alert-form.module.css";
import alertsCss from "./alerts.module.css";
import { type Draft, type DraftErrors, messageNames } from "./draft.ts";

interface NotificationFieldsProps {
  workspaceId: string;
  draft: Draft;
  errors: DraftErrors;
  /** `null` until loaded. */
  destinations: readonly Destination[] | null;
  /** Values of the template, from a firing or as an example; `null` while the rule is not complete. */
  sample: Readonly<Record<string, string>> | null;
  isExample: boolean;
  messageError: string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

/** Who is notified, and of what. */
export function NotificationFields(props: NotificationFieldsProps) {
  const { workspaceId, draft, destinations, sample, isExample, messageError, onChange } = props;
  const { message } = draft;
  return (
    <>
      <fieldset class={css.set}>
        <legend>Destinations</legend>
        {destinations?.length === 0 ? (
          <p class={alertsCss.hint}>
            None yet. Without a destination no message is sent; the page of the alert lists its firings.{" "}
            <a href={`/w/${workspaceId}/settings/destinations`}>Create a destination</a>
          </p>
        ) : null}
        {destinations?.map(({ id, name, kind, disabledReason }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={draft.destinations.includes(id)}
              onChange={({ currentTarget }) =>
                onChange({
                  destinations: currentTarget.checked
                    ? [...draft.destinations, id]
                    : draft.destinations.filter((each) => each !== id),
                })
              }
            />
            <span>
              {visible(name)} <span class={alertsCss.hint}>{kindText(kind, pausedBecause({ disabledReason }))}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Field
        label="Message"
        hint={
          <>
            Names:{" "}
            {messageNames(draft)
              .map((name) => `{{${name}}}`)
              .join(" ")}
          </>
        }
        error={messageError}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            maxLength={2000}
            value={message}
            placeholder={USUAL_MESSAGE}
            spellcheck={false}
            onInput={({ currentTarget }) => onChange({ message: currentTarget.value })}
          />
        )}
      </Field>
      <div>
        <p class={alertsCss.hint}>
          {sample === null
            ? "Preview of the message"
            : `Preview of the message, ${isExample ? "with example values" : "of the newest firing of the replay"}`}
        </p>
        <p class={css.preview}>
          {sample === null
            ? "Shown once the query and the condition are complete."
            : visible(fillTemplate(message === "" ? USUAL_MESSAGE : message, sample, NOTIFICATION_LIMITS.message))}
        </p>
      </div>
      <Labels {...props} />
    </>
  );
}

function Labels({ draft: { labels }, errors, onChange }: NotificationFieldsProps) {
  const put = (at: number, label: readonly [string, string]): void =>
    onChange({ labels: labels.map((each, index) => (index === at ? label : each)) });
  return (
    <fieldset class={css.set} aria-describedby={errors.labels === undefined ? undefined : "labels-error"}>
      <legend>Labels</legend>
      {labels.map(([name, value], at) => (
        <div key={at} class={css.label}>
          <input
            aria-label={`Name of label ${at + 1}`}
            placeholder="severity"
            maxLength={200}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => put(at, [currentTarget.value, value])}
          />
          <input
            aria-label={`Value of label ${at + 1}`}
            placeholder="critical"
            maxLength={200}
            autocomplete="off"
            value={value}
            onInput={({ currentTarget }) => put(at, [name, currentTarget.value])}
          />
          <IconButton
            icon={X}
            label={`Remove label ${at + 1}`}
            onClick={() => onChange({ labels: labels.filter((_, index) => index !== at) })}
          />
        </div>
      ))}
      {errors.labels === undefined ? null : (
        <p class={alertsCss.wrong} id="labels-error" role="alert">
          {errors.labels}
        </p>
      )}
      <p>
        <Button
          small
          icon={Plus}
          disabled={labels.length >= 20}
          onClick={() => onChange({ labels: [...labels, ["", ""]] })}
        >
          Add label
        </Button>
      </p>
    </fieldset>
  );
}

function kindText(kind: Kind, paused: string | null): string {
  const { label } = KINDS[kind];
  return paused === null ? label : `${label}, ${paused.toLowerCase()}`;
}
