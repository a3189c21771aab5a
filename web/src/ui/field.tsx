import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import css from "./field.module.css";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  /** Receives the attributes that link the control to its label, hint and error: spread them on the control. */
  children: (props: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** A control with its label, hint and error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const describedBy = [hint ? hintId : "", error ? errorId : ""].filter(Boolean).join(" ");
  return (
    <div class={css.field}>
      <label class={css.label} for={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": describedBy || undefined, "aria-invalid": error !== undefined })}
      {hint ? (
        <span class={css.hint} id={hintId}>
          {hint}
        </span>
      ) : null}
      {error ? (
        <span class={css.error} id={errorId} role="alert">
          {error}
        </span>
      ) : null}
    </div>
  );
}
