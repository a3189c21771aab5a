import { useEffect, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { PRESETS, type Range, type Times } from "../view/range.ts";
import css from "./toolbar.module.css";

const CUSTOM = "custom";

interface TimeRangeProps {
  range: Range;
  /** What the range is at present: where a custom one begins from. */
  times: Times;
  onChange: (range: Range) => void;
}

/** Relative ranges to choose, and any other by its two ends in the local zone. */
export function TimeRange({ range, times, onChange }: TimeRangeProps) {
  const [editing, setEditing] = useState(false);
  const isBetween = range.kind === "between";
  const chosen = editing || isBetween ? CUSTOM : range.kind === "all" ? "all" : range.preset;
  useEffect(() => setEditing(false), [range]);
  return (
    <>
      <label class={css.time}>
        <span class="visually-hidden">Time range</span>
        <select
          value={chosen}
          data-shortcut="time"
          onChange={({ currentTarget }) => {
            const { value } = currentTarget;
            const preset = PRESETS.find(({ name }) => name === value);
            setEditing(value === CUSTOM);
            if (preset) onChange({ kind: "last", preset: preset.name });
            else if (value === "all") onChange({ kind: "all" });
          }}
        >
          {PRESETS.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
          <option value="all">All that is kept</option>
          <option value={CUSTOM}>From … to …</option>
        </select>
      </label>
      {chosen === CUSTOM ? (
        <Ends
          // Another range in the address begins anew. A relative one moves with the clock, which must not undo what is typed.
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
    // Milliseconds, which a brush may bring in, are no whole step: the browser's own check would refuse them.
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
      {isWrong ? <span role="alert">The end has to be later than the beginning.</span> : null}
    </form>
  );
}

/** As a field for local times wants it: `2026-11-20T14:05:00`, with milliseconds where there are any. */
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
  return iso === null ? "No bound" : `${iso} (UTC)`;
}
