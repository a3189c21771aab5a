import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { SEARCH_MAX } from "../view/view.ts";
import css from "./toolbar.module.css";

/** Text search: asks with Enter, not with every letter, for each one looks through everything. */
export function SearchBox({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  // What was asked for here is there already, and more may have been typed since.
  const asked = useRef(value);
  useEffect(() => {
    if (value !== asked.current) setTyped(value);
    asked.current = value;
  }, [value]);
  const search = (text: string): void => {
    asked.current = text;
    onSearch(text);
  };
  return (
    <search class={css.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search(typed);
        }}
      >
        <label>
          <span class="visually-hidden">Search in messages and data</span>
          <input
            type="search"
            value={typed}
            maxLength={SEARCH_MAX}
            placeholder="Messages and data"
            data-shortcut="search"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value);
              // The cross of the field empties it, and nobody presses Enter after that.
              if (currentTarget.value === "" && value !== "") search("");
            }}
          />
        </label>
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
