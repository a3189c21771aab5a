import { useId } from "preact/hooks";
import { RULE_METHODS } from "../../../../../src/limits/cascade.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";
import type { LimitDraft, RuleDraft } from "./draft.ts";
import css from "./limits.module.css";
import { PATTERNS } from "./routes.ts";

interface LimitFieldsProps {
  value: LimitDraft;
  /** Path of the limit in errors of the API. */
  at: string;
  errorAt: (field: string) => string | undefined;
  onChange: (value: LimitDraft) => void;
}

/** Number of requests and window in seconds. */
export function LimitFields({ value, at, errorAt, onChange }: LimitFieldsProps) {
  const prefix = at === "" ? "" : `${at}.`;
  return (
    <>
      <Field label="Requests" error={errorAt(`${prefix}limit`)}>
        {(props) => (
          <input
            {...props}
            inputMode="numeric"
            autocomplete="off"
            value={value.limit}
            onInput={(event) => onChange({ ...value, limit: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Window (seconds)" error={errorAt(`${prefix}windowSeconds`)}>
        {(props) => (
          <input
            {...props}
            inputMode="numeric"
            autocomplete="off"
            value={value.windowSeconds}
            onInput={(event) => onChange({ ...value, windowSeconds: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  );
}

interface RuleRowProps {
  rule: RuleDraft;
  number: number;
  /** Returns the error of a field of the rule, for example `path`. */
  errorAt: (field: string) => string | undefined;
  onChange: (rule: RuleDraft) => void;
  onRemove: () => void;
}

export function RuleRow({ rule, number, errorAt, onChange, onRemove }: RuleRowProps) {
  const listId = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset inside a fieldset would repeat the outer legend at every control.
    <div class={css.rule} role="group" aria-label={`Rule ${number}`}>
      <Field label="Method" error={errorAt("method")}>
        {(props) => (
          <Select
            {...props}
            value={rule.method}
            options={RULE_METHODS.map((method) => ({ value: method, label: method === "*" ? "any (*)" : method }))}
            onChange={(method) => onChange({ ...rule, method })}
          />
        )}
      </Field>
      <div class={css.path}>
        <Field label="Path" error={errorAt("path")}>
          {(props) => (
            <input
              {...props}
              list={listId}
              value={rule.path}
              maxLength={200}
              spellcheck={false}
              autocapitalize="off"
              autocomplete="off"
              placeholder="/logger/:projectId/log"
              onInput={(event) => onChange({ ...rule, path: event.currentTarget.value })}
            />
          )}
        </Field>
        <datalist id={listId}>
          {PATTERNS.map((pattern) => (
            <option key={pattern} value={pattern} />
          ))}
        </datalist>
      </div>
      <LimitFields value={rule} at="" errorAt={errorAt} onChange={(limit) => onChange({ ...rule, ...limit })} />
      <div class={css.remove}>
        <Button small onClick={onRemove}>
          Remove<span class="visually-hidden"> rule {number}</span>
        </Button>
      </div>
    </div>
  );
}
