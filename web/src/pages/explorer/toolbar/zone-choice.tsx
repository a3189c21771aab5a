import { useId, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { BROWSER_ZONE, recentZones, setZone, zone } from "../../../lib/zone.ts";
import css from "./zone-choice.module.css";
import { foundZones, offsetText, zoneItems } from "./zone-list.ts";

/** A field with the time zone, which finds any other one by a part of its name or by its offset. */
export function ZoneChoice() {
  /** Typed text; `null` while the list is closed. */
  const [text, setText] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const id = useId();
  const isOpen = text !== null;
  const all = useMemo(
    () =>
      isOpen
        ? zoneItems(
            [zone.peek(), BROWSER_ZONE, "UTC", ...recentZones(), ...Intl.supportedValuesOf("timeZone")],
            Date.now(),
          )
        : [],
    [isOpen],
  );
  const found = useMemo(() => foundZones(all, text ?? ""), [all, text]);
  // Before the frame: a later one would scroll a list that the reader has already moved.
  useLayoutEffect(() => {
    if (isOpen) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [isOpen, active, text]);
  const show = (next: string | null): void => {
    setText(next);
    setActive(0);
  };
  const choose = (name: string | undefined): void => {
    if (name === undefined) return;
    setZone(name);
    show(null);
  };
  return (
    <div class={css.choice}>
      <input
        role="combobox"
        class={css.input}
        aria-label="Time zone"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${active}`}
        aria-autocomplete="list"
        placeholder={zone.value}
        autocomplete="off"
        spellcheck={false}
        value={text ?? zone.value}
        onClick={() => text ?? show("")}
        onBlur={() => show(null)}
        onInput={({ currentTarget }) => show(currentTarget.value)}
        onKeyDown={(event) => {
          const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (by !== 0 && !isOpen) show("");
          else if (by !== 0) setActive((active + by + found.length) % Math.max(1, found.length));
          else if (event.key === "Enter" && isOpen) choose(found[active]?.name);
          else if (event.key === "Enter") show("");
          else if (event.key === "Escape" && isOpen) show(null);
          else return;
          event.preventDefault();
        }}
      />
      {isOpen ? (
        <div
          class={css.list}
          id={`${id}-list`}
          role="listbox"
          aria-label="Time zones"
          tabIndex={-1}
          // Keeps the focus in the input, whose loss closes the list; also from the scroll bar.
          onPointerDown={(event) => event.preventDefault()}
        >
          {found.map(({ name, offset }, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
            <div
              key={name}
              id={`${id}-${place}`}
              class={css.option}
              role="option"
              aria-selected={place === active}
              tabIndex={-1}
              onClick={() => choose(name)}
            >
              <span>{name}</span>
              <span class={css.hint}>
                {name === BROWSER_ZONE ? "browser, " : ""}
                {offsetText(offset)}
              </span>
            </div>
          ))}
          {found.length === 0 ? <p class={css.none}>No such zone</p> : null}
        </div>
      ) : null}
    </div>
  );
}
