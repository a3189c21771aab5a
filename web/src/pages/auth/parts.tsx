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
    <Field label={label} hint={hint} error={errorOf(failure, input.name)}>
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
 * A password field with a button to show the value. Has no `maxlength`, because browsers silently truncate a pasted
 * text.
 * @param isNew whether the user chooses a new password; shows the requirements
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
      hint={hint ?? (isNew ? "At least 8 characters. Three or four random words work well." : undefined)}
      error={errorOf(failure, input.name)}
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
            <span class="visually-hidden"> {label.toLowerCase()}</span>
          </Button>
        </span>
      )}
    </Field>
  );
}

/** Fields for a new password, which show why it was refused. */
const CHOSEN = new Set(["password", "newPassword"]);

function errorOf(failure: ApiFailure | null, path: string): string | undefined {
  if (failure !== null && isWeak(failure) && CHOSEN.has(path)) return sentence(failure.message);
  return fieldError(failure, path);
}

/** Explains why a form was refused, unless its fields explain it. Wrong credentials take one line. */
export function FormProblem({ failure, fields }: { failure: ApiFailure | null; fields: readonly string[] }) {
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

/** Result shown in place of a form. Focuses its heading, so that a screen reader announces it. */
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

/** A link to continue, styled as a button. */
export function ContinueLink({
  to,
  children,
  plain = false,
}: {
  to: string;
  children: ComponentChildren;
  plain?: boolean;
}) {
  return (
    <a class={buttonClass(plain ? "plain" : "primary")} href={to}>
      {children}
    </a>
  );
}
