import { useId } from "preact/hooks";
import type { SavedRange } from "../../model/boards.ts";
import choices from "../../ui/choices.module.css";
import { isFixed, ownLabel } from "./board-query.ts";

interface TimeFieldProps {
  /** `undefined`: that of the board. */
  range: SavedRange | undefined;
  /** Ranges that the panel can have of its own. */
  offered: readonly (SavedRange | undefined)[];
  onChange: (range: SavedRange | undefined) => void;
}

/** A choice between the range of the board and one that the panel keeps. */
export function TimeField({ range, offered, onChange }: TimeFieldProps) {
  const name = useId();
  const own = new Map(offered.flatMap((each) => (each === undefined ? [] : [[JSON.stringify(each), each] as const])));
  const chosen = range === undefined ? null : JSON.stringify(range);
  return (
    <fieldset class={choices.choices}>
      <legend>Time</legend>
      <label>
        <input type="radio" name={name} checked={chosen === null} onChange={() => onChange(undefined)} />
        <span>
          Of the board <span class={choices.about}>moves with the board's time</span>
        </span>
      </label>
      {[...own].map(([value, each]) => (
        <label key={value}>
          <input type="radio" name={name} checked={chosen === value} onChange={() => onChange(each)} />
          <span>
            {isFixed(each) ? "Fixed" : "Own"} <span class={choices.about}>{aboutOwn(each)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function aboutOwn(range: SavedRange): string {
  const label = ownLabel(range, Date.now());
  if (isFixed(range)) return `stays at ${label}`;
  return range !== null && "last" in range ? `${label}, moves with the clock` : label;
}
