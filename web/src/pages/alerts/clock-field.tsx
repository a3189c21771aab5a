import { useState } from "preact/hooks";
import { clockText, readClock } from "../../lib/clock-text.ts";
import { isTwelveHour } from "../../lib/zone.ts";
import { Field } from "../../ui/field.tsx";

interface ClockFieldProps {
  label: string;
  /** `hh:mm` of 24 hours; `null` while the text is no time. */
  time: string | null;
  onChange: (time: string | null) => void;
  onEnter: () => void;
}

/** A time of day as a text. The browser's own input counts hours as the locale does, whatever clock the reader has chosen. */
export function ClockField({ label, time, onChange, onEnter }: ClockFieldProps) {
  const [text, setText] = useState(() => clockText(time ?? ""));
  /** Not while it is typed: each time begins as something else. */
  const [isLeft, setLeft] = useState(false);
  const example = isTwelveHour.value ? "10:30 PM" : "22:30";
  return (
    <Field label={label} error={isLeft && time === null ? `Must be a time, such as ${example}.` : undefined}>
      {(props) => (
        <input
          {...props}
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            onChange(readClock(currentTarget.value));
          }}
          onBlur={() => {
            setLeft(true);
            if (time !== null) setText(clockText(time));
          }}
          onKeyDown={(event) => {
            // Does not save the alert.
            if (event.key !== "Enter") return;
            event.preventDefault();
            setLeft(true);
            if (time !== null) onEnter();
          }}
        />
      )}
    </Field>
  );
}
