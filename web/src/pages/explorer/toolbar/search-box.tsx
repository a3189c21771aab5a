import { useEffect, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { SEARCH_MAX } from "../view/view.ts";
import css from "./toolbar.module.css";

/** Text search: asks with Enter, not with every letter, for each one looks through everything. */
export function SearchBox({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <search class={css.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(typed);
        }}
      >
        <label>
          <span class="visually-hidden">Search in messages and data</span>
          <input
            type="search"
            value={typed}
            maxLength={SEARCH_MAX}
            placeholder="Search in messages and data"
            data-shortcut="search"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value);
              // The cross of the field empties it, and nobody presses Enter after that.
              if (currentTarget.value === "" && value !== "") onSearch("");
            }}
          />
        </label>
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
