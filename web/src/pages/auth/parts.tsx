import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiFailure } from "../../api/failure.ts";
import { fieldError, sentence } from "../../lib/action.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import css from "./auth.module.css";

interface TextFieldProps {
  label: string;
  name: string;
  value: string;
  onValue: (value: string) => void;
  failure?: ApiFailure | null;
  hint?: ComponentChildren;
  autocomplete: string;
  autofocus?: boolean;
}

export function EmailField({ failure = null, onValue, label, hint, autofocus = false, ...input }: TextFieldProps) {
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (autofocus) ref.current?.focus();
  }, []);
  return (
    <Field label={label} hint={hint} error={saidOf(failure, input.name)}>
      {(props) => (
        <input
          {...props}
          {...input}
          ref={ref}
          type="email"
          required
          spellcheck={false}
          autocapitalize="none"
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

const SHOWN = { type: "text" } as const;
const HIDDEN = { type: "password" } as const;

/**
 * A password, which can be shown. No `maxlength`: browsers cut what is pasted down to it without a word.
 * `isNew`: one that is being chosen, with what the service asks of it.
 */
export function PasswordField({
  failure = null,
  onValue,
  label,
  hint,
  isNew = false,
  autofocus = false,
  ...input
}: TextFieldProps & { isNew?: boolean }) {
  const [isShown, setIsShown] = useState(false);
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (autofocus) ref.current?.focus();
  }, []);
  return (
    <Field
      label={label}
      hint={hint ?? (isNew ? "8 characters or more. Three or four random words make a good one." : undefined)}
      error={saidOf(failure, input.name)}
    >
      {(props) => (
        <span class={css.password}>
          <input
            {...props}
            {...input}
            ref={ref}
            {...(isShown ? SHOWN : HIDDEN)}
            required
            {...(isNew ? { minLength: 8 } : {})}
            spellcheck={false}
            autocapitalize="none"
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          <Button look="quiet" small aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
            {isShown ? "Hide" : "Show"}
            <span class="visually-hidden"> the {label.toLowerCase()}</span>
          </Button>
        </span>
      )}
    </Field>
  );
}

/** Fields for a password that is being chosen, which say what is wrong with it. */
const CHOSEN = new Set(["password", "newPassword"]);

function saidOf(failure: ApiFailure | null, path: string): string | undefined {
  if (failure !== null && isWeak(failure) && CHOSEN.has(path)) return sentence(failure.message);
  return fieldError(failure, path);
}

/** Why a form was refused, where its fields do not say it already. What everybody mistypes now and then takes one line. */
export function Refused({ failure, fields }: { failure: ApiFailure | null; fields: readonly string[] }) {
  if (isWeak(failure)) return null;
  if (failure?.code !== "INVALID_CREDENTIALS" || failure.details.length > 0) {
    return <Problem failure={failure} fields={fields} />;
  }
  return (
    <p class={css.refused} role="alert">
      {failure.message}
    </p>
  );
}

function isWeak(failure: ApiFailure | null): boolean {
  return failure?.code === "WEAK_PASSWORD";
}

/** What came of it, in place of a form. The heading takes the focus, so that a screen reader says it. */
export function Outcome({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <Card>
      <div class={css.outcome}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {children}
      </div>
    </Card>
  );
}

export function Note({ children, tone }: { children: ComponentChildren; tone?: "warn" }) {
  return (
    <div class={`${css.note} ${tone === "warn" ? css.warn : ""}`} role={tone === undefined ? "status" : "alert"}>
      {children}
    </div>
  );
}

/** A link that looks like a button: for going on. */
export function GoOn({ to, children, plain = false }: { to: string; children: ComponentChildren; plain?: boolean }) {
  return (
    <a class={buttonClass(plain ? "plain" : "primary")} href={to}>
      {children}
    </a>
  );
}
