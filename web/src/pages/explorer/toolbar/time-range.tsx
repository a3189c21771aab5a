import { Clock } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { Select } from "../../../ui/select.tsx";
import { PRESETS, type Range, type Times } from "../view/range.ts";
import css from "./toolbar.module.css";

const CUSTOM = "custom";

interface TimeRangeProps {
  range: Range;
  /** The current bounds of the range: initial values of a custom range. */
  times: Times;
  onChange: (range: Range) => void;
}

/** Relative ranges, and a custom one by its two ends in the local time zone. */
export function TimeRange({ range, times, onChange }: TimeRangeProps) {
  const [editing, setEditing] = useState(false);
  const isBetween = range.kind === "between";
  const chosen = editing || isBetween ? CUSTOM : range.kind === "all" ? "all" : range.preset;
  useEffect(() => setEditing(false), [range]);
  return (
    <>
      <span class={css.time}>
        <Select
          label="Time range"
          icon={Clock}
          value={chosen}
          shortcut="time"
          options={[
            ...PRESETS.map(({ name, label }) => ({ value: name, label })),
            { value: "all", label: "All time" },
            { value: CUSTOM, label: "Custom range" },
          ]}
          onChange={(value) => {
            const preset = PRESETS.find(({ name }) => name === value);
            setEditing(value === CUSTOM);
            if (preset) onChange({ kind: "last", preset: preset.name });
            else if (value === "all") onChange({ kind: "all" });
          }}
        />
      </span>
      {chosen === CUSTOM ? (
        <Ends
          // Another range in the address remounts the inputs. A relative range moves with the clock, which must not
          // discard what was typed.
          key={isBetween ? `${range.from} ${range.to}` : ""}
          from={isBetween ? range.from : new Date(times.start).toISOString()}
          to={isBetween ? range.to : new Date(times.end).toISOString()}
          onApply={(from, to) => {
            setEditing(false);
            onChange(from === null && to === null ? { kind: "all" } : { kind: "between", from, to });
          }}
        />
      ) : null}
    </>
  );
}

function Ends({
  from,
  to,
  onApply,
}: {
  from: string | null;
  to: string | null;
  onApply: (from: string | null, to: string | null) => void;
}) {
  const [start, setStart] = useState(localText(from));
  const [end, setEnd] = useState(localText(to));
  const isWrong = start !== "" && end !== "" && Date.parse(start) >= Date.parse(end);
  return (
    // `noValidate`, because the browser would refuse milliseconds, which a selection in the histogram may have, as off
    // the step.
    <form
      class={css.ends}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) onApply(isoOf(start), isoOf(end));
      }}
    >
      <label>
        <span>From</span>
        <input
          type="datetime-local"
          step="1"
          value={start}
          title={utcTitle(start)}
          onInput={({ currentTarget }) => setStart(currentTarget.value)}
        />
      </label>
      <label>
        <span>To</span>
        <input
          type="datetime-local"
          step="1"
          value={end}
          title={utcTitle(end)}
          aria-invalid={isWrong}
          onInput={({ currentTarget }) => setEnd(currentTarget.value)}
        />
      </label>
      <Button small type="submit">
        Apply
      </Button>
      {isWrong ? <span role="alert">The end must be after the start.</span> : null}
    </form>
  );
}

/** Formats a time for a local time input: `2026-11-20T14:05:00`, with milliseconds unless they are zero. */
function localText(iso: string | null): string {
  if (iso === null) return "";
  const date = new Date(iso);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local
    .toISOString()
    .replace("Z", "")
    .replace(/\.000$/, "");
}

function isoOf(local: string): string | null {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function utcTitle(local: string): string {
  const iso = isoOf(local);
  return iso === null ? "Open" : `${iso} (UTC)`;
}
