import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import css from "./alert-form.module.css";
import type { Draft, DraftErrors } from "./draft.ts";
import { durationText } from "./words.ts";

const KINDS = [
  { value: "threshold", label: "At least" },
  { value: "absence", label: "Fewer than", hint: "also without entries" },
  { value: "below", label: "Less than", hint: "of an aggregation" },
  { value: "rate", label: "At least, a second" },
  { value: "change", label: "Change" },
  { value: "new-pattern", label: "New pattern" },
] as const;
const DIRECTIONS = [
  { value: "rise", label: "Rise" },
  { value: "fall", label: "Fall" },
] as const;
const WINDOWS = ["1m", "2m", "5m", "10m", "15m", "30m", "1h", "3h", "6h", "12h", "24h"];
const DELAYS = ["10s", "30s", "1m", "5m", "15m"];
const FOR = ["0s", "1m", "5m", "10m", "15m", "30m", "1h", "6h"];

interface ConditionFieldsProps {
  draft: Draft;
  errors: DraftErrors;
  onChange: (change: Partial<Draft>) => void;
}

/** When a rule fires, and when it recovers. */
export function ConditionFields({ draft, errors, onChange }: ConditionFieldsProps) {
  const { kind, value, direction, percent, min, window, recovery } = draft;
  const isChange = kind === "change";
  return (
    <>
      <div class={css.pair}>
        <Field label="Fires when">
          {(props) => <Select {...props} value={kind} options={KINDS} onChange={(next) => onChange({ kind: next })} />}
        </Field>
        {isChange ? (
          <>
            <Field label="Direction">
              {(props) => (
                <Select
                  {...props}
                  value={direction}
                  options={DIRECTIONS}
                  onChange={(next) => onChange({ direction: next })}
                />
              )}
            </Field>
            <NumberField
              label="Percent"
              value={percent}
              error={errors.percent}
              onChange={(next) => onChange({ percent: next })}
            />
            <NumberField
              label="At least entries"
              value={min}
              error={errors.min}
              onChange={(next) => onChange({ min: next })}
            />
          </>
        ) : kind === "new-pattern" ? null : (
          <NumberField
            label={kind === "rate" ? "Entries a second" : "Value"}
            value={value}
            error={errors.value}
            onChange={(next) => onChange({ value: next })}
          />
        )}
        <Field label="Window" hint={isChange ? "Compared with the window before." : undefined}>
          {(props) => (
            <Select
              {...props}
              value={window}
              options={durations(WINDOWS, window)}
              onChange={(next) => onChange({ window: next })}
            />
          )}
        </Field>
      </div>
      <div class={css.pair}>
        <Field label="For" hint="How long it must hold before the alert fires.">
          {(props) => (
            <Select
              {...props}
              value={draft.for}
              options={durations(FOR, draft.for)}
              onChange={(next) => onChange({ for: next })}
            />
          )}
        </Field>
        {kind === "new-pattern" ? null : (
          <NumberField
            label={kind === "absence" || kind === "below" ? "Recovers from" : "Recovers below"}
            hint={`${isChange ? "Percent. " : ""}Empty: as soon as the condition no longer holds.`}
            value={recovery}
            error={errors.recovery}
            onChange={(next) => onChange({ recovery: next })}
          />
        )}
        <Field
          label="Which time counts"
          hint="When the service receives an entry, or the entry's own time, decided later so that late entries count."
        >
          {(props) => (
            <Select
              {...props}
              value={draft.delay}
              options={[
                { value: "", label: "Time of receipt" },
                ...durations(DELAYS, draft.delay === "" ? "10s" : draft.delay).map(({ value, label }) => ({
                  value,
                  label: `Entry's time, ${label} later`,
                })),
              ]}
              onChange={(next) => onChange({ delay: next })}
            />
          )}
        </Field>
      </div>
    </>
  );
}

/** Usual durations, and the present one. */
function durations(usual: readonly string[], present: string): { value: string; label: string }[] {
  const all = usual.includes(present) ? usual : [...usual, present];
  return all.map((value) => ({ value, label: value === "0s" ? "At once" : durationText(value) }));
}

interface NumberFieldProps {
  label: string;
  hint?: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

function NumberField({ label, hint, value, error, onChange }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => (
        <input
          {...props}
          inputmode="decimal"
          autocomplete="off"
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}
