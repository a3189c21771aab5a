import { useEffect, useId, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import css from "./filter-panel.module.css";

/** Filters by an exact text, applied on Enter or with the button. */
export function TextFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (text: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const id = useId();
  useEffect(() => setTyped(value), [value]);
  return (
    <div class={css.group}>
      <label class={css.legend} for={id}>
        {label}
      </label>
      <form
        class={css.add}
        onSubmit={(event) => {
          event.preventDefault();
          onChange(typed.trim());
        }}
      >
        <input
          id={id}
          value={typed}
          placeholder="Exact value"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Button small type="submit" aria-label={`Set ${label.toLowerCase()}`}>
          Set
        </Button>
      </form>
    </div>
  );
}
