import { useState } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { type Column, withColumn } from "../view/columns.ts";
import css from "./column-choice.module.css";

interface ColumnChoiceProps {
  columns: readonly Column[];
  /** Fields that may become columns. */
  candidates: readonly string[];
  onColumns: (columns: readonly Column[]) => void;
}

/** The fields that may become columns, found by a part of their name. Enter takes the first one. */
export function ColumnChoice({ columns, candidates, onColumns }: ColumnChoiceProps) {
  const [wanted, setWanted] = useState("");
  // Candidates begin with the chosen columns: no field moves while it is chosen.
  const [listed] = useState(candidates);
  const found = listed.filter((field) => field.toLowerCase().includes(wanted.trim().toLowerCase()));
  const toggle = (field: string): void => onColumns(withColumn(columns, field));
  return (
    <div class={css.choice}>
      <input
        type="text"
        value={wanted}
        aria-label="Find a column"
        placeholder="Find a column"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key !== "Enter" || wanted === "" || first === undefined) return;
          event.preventDefault();
          toggle(first);
          setWanted("");
        }}
      />
      <ul class={css.fields} aria-label="Fields">
        {found.map((field) => (
          <li key={field}>
            <label class={css.field}>
              <input
                type="checkbox"
                checked={columns.some((column) => column.field === field)}
                onChange={() => toggle(field)}
              />
              {visible(field)}
            </label>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class={css.none}>No such field</p> : null}
      {columns.length === 0 ? null : (
        <Button small look="quiet" onClick={() => onColumns([])}>
          Remove all columns
        </Button>
      )}
    </div>
  );
}
