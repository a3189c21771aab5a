import { Check } from "lucide";
import { useId, useState } from "preact/hooks";
import { isTwelveHour, localeCountsTo12, setTwelveHour, zone } from "../../../lib/zone.ts";
import { Button } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { rangeText } from "../view/format.ts";
import { PRESETS, type Range, type Times } from "../view/range.ts";
import { EXAMPLES, readTimeText, writtenTime } from "../view/time-text.ts";
import css from "./time-choice.module.css";
import { ZoneChoice } from "./zone-choice.tsx";

interface TimeChoiceProps {
  range: Range;
  times: Times;
  onChange: (range: Range) => void;
}

/** Time ranges to choose from, a field to type any, and the time zone. */
export function TimeChoice({ range, times, onChange }: TimeChoiceProps) {
  const [text, setText] = useState(() => typedText(range, times));
  const id = useId();
  const read = text.trim() === "" ? null : readTimeText(text, Date.now(), zone.value);
  const current = range.kind === "last" ? range.preset : range.kind;
  return (
    <div class={css.choice}>
      <form
        class={css.typed}
        onSubmit={(event) => {
          event.preventDefault();
          if (read?.ok) onChange(read.range);
        }}
      >
        <label for={id}>Range</label>
        <input
          id={id}
          value={text}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={read !== null && !read.ok}
          aria-describedby={`${id}-hint`}
          ref={(input) => {
            // The box opens with the text selected, to be typed over.
            if (input !== null && input.dataset.seen === undefined) {
              input.dataset.seen = "";
              requestAnimationFrame(() => input.select());
            }
          }}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <div class={css.line}>
          <p id={`${id}-hint`} class={css.hint} data-wrong={read !== null && !read.ok}>
            {read === null ? EXAMPLES : read.ok ? rangeText(read.range) : `${read.message} ${EXAMPLES}`}
          </p>
          <Button type="submit" look="primary" disabled={!read?.ok}>
            Apply
          </Button>
        </div>
      </form>
      <ul class={css.presets}>
        {[...PRESETS, { name: "all", label: "All time" }].map(({ name, label }) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={name === current}
              onClick={() => onChange(name === "all" ? { kind: "all" } : { kind: "last", preset: name })}
            >
              <span class={css.mark}>{name === current ? <Icon shape={Check} size={14} /> : null}</span>
              {label}
            </button>
          </li>
        ))}
      </ul>
      <div class={css.zone}>
        <ZoneChoice />
        {localeCountsTo12() ? (
          <label class={css.clock}>
            <input
              type="checkbox"
              checked={isTwelveHour.value}
              onChange={({ currentTarget }) => setTwelveHour(currentTarget.checked)}
            />
            12-hour clock
          </label>
        ) : null}
      </div>
    </div>
  );
}

/** A range as it may be typed. */
function typedText(range: Range, { start, end }: Times): string {
  if (range.kind === "last") return `last ${range.preset}`;
  if (range.kind === "all") return "all";
  if (range.from === null) return `before ${written(end)}`;
  return range.to === null ? `since ${written(start)}` : bothWritten(start, end);
}

/** A range within one day names the day once. */
function bothWritten(start: number, end: number): string {
  const [first, last] = [written(start), written(end)];
  const [day = "", clock = ""] = last.split(" ");
  return `${first}..${first.startsWith(`${day} `) ? clock : last}`;
}

function written(ms: number): string {
  return writtenTime(ms, zone.value);
}
