import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { SEARCH_MAX } from "../view/view.ts";
import css from "./toolbar.module.css";

/** Text search, submitted with Enter instead of on every letter, because each search scans all entries. */
export function SearchBox({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  // A search from this box is shown already, and the user may have typed more since.
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
            placeholder="Contains exact text"
            title="Case-insensitive substring of messages and values in data. No wildcards or operators."
            data-shortcut="search"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value);
              // The clear button of the field does not submit the form.
              if (currentTarget.value === "" && value !== "") search("");
            }}
          />
        </label>
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
