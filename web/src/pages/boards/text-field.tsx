import type { ComponentChildren } from "preact";
import { Field } from "../../ui/field.tsx";

interface TextFieldProps {
  label: string;
  hint?: ComponentChildren;
  value: string;
  placeholder?: string;
  maxLength: number;
  onChange: (value: string) => void;
}

/** A name or title that is the user's own: browsers do not offer earlier ones. */
export function TextField({ label, hint, value, placeholder, maxLength, onChange }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(props) => (
        <input
          {...props}
          value={value}
          placeholder={placeholder}
          maxLength={maxLength}
          autocomplete="off"
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}
