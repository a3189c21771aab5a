import { useId, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { number, short } from "../view/format.ts";
import { visible } from "../view/visible.ts";
import css from "./filter-panel.module.css";
import type { SeenNames } from "./use-names.ts";

/** Names shown before the user expands the list. */
const FEW = 6;

interface NamesFilterProps {
  label: string;
  plural: string;
  chosen: readonly string[];
  names: SeenNames;
  /** Built-in names. */
  known: readonly string[];
  /** Characters of a name. */
  maxLength?: number;
  onChange: (names: string[]) => void;
}

/** Filters by any of several names: checkboxes for names that occur, an input for others. */
export function NamesFilter({ label, plural, chosen, names, known, maxLength = 64, onChange }: NamesFilterProps) {
  const [all, setAll] = useState(false);
  const [typed, setTyped] = useState("");
  const id = useId();
  const { complete } = names;
  const seen = names.seen ?? [];
  const others = chosen.filter((name) => !seen.some((each) => each.name === name));
  const shown = [
    ...others.map((name) => ({ name, count: names.seen === null || !complete ? null : 0 })),
    ...seen.filter(({ name }, index) => all || index < FEW || chosen.includes(name)),
  ];
  const suggested = [...new Set([...seen.map(({ name }) => name), ...known])].filter((name) => !chosen.includes(name));
  return (
    <fieldset class={css.group}>
      <legend>{label}</legend>
      {shown.map(({ name, count }) => (
        <label key={name} class={css.check}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
            }
          />
          <span class={css.name}>{visible(name)}</span>
          {count === null ? null : (
            <span
              class={css.count}
              title={`${complete ? "" : "At least "}${number(count)} with the other filters and this time range`}
            >
              {short(count)}
              {complete ? "" : "+"}
            </span>
          )}
        </label>
      ))}
      {seen.length > FEW ? (
        <Button small look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${number(seen.length)} ${plural}`}
        </Button>
      ) : null}
      <form
        class={css.add}
        onSubmit={(event) => {
          event.preventDefault();
          const name = typed.trim();
          if (name !== "" && !chosen.includes(name)) onChange([...chosen, name]);
          setTyped("");
        }}
      >
        <label class="visually-hidden" for={id}>
          Other {label.toLowerCase()}
        </label>
        <input
          id={id}
          list={`${id}-list`}
          value={typed}
          maxLength={maxLength}
          placeholder={`Other ${label.toLowerCase()}`}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <datalist id={`${id}-list`}>
          {suggested.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button small type="submit" aria-label={`Add ${label.toLowerCase()}`}>
          Add
        </Button>
      </form>
    </fieldset>
  );
}
