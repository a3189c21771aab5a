import { useId } from "preact/hooks";
import type { SavedRange } from "../../model/boards.ts";
import choices from "../../ui/choices.module.css";
import { isFixed, ownLabel, ownTimeText } from "./board-query.ts";

interface TimeFieldProps {
  /** The range that the board shows now; absent where no board is open. */
  board?: SavedRange;
  /** `undefined`: that of the board. */
  range: SavedRange | undefined;
  /** Ranges that the panel can have of its own. */
  offered: readonly (SavedRange | undefined)[];
  onChange: (range: SavedRange | undefined) => void;
}

/** A choice between the range of the board and one that the panel keeps. */
export function TimeField({ board, range, offered, onChange }: TimeFieldProps) {
  const name = useId();
  const own = new Map(offered.flatMap((each) => (each === undefined ? [] : [[JSON.stringify(each), each] as const])));
  const chosen = range === undefined ? null : JSON.stringify(range);
  return (
    <fieldset class={choices.choices}>
      <legend>Time</legend>
      <label>
        <input type="radio" name={name} checked={chosen === null} onChange={() => onChange(undefined)} />
        <span>
          Of the board
          <span class={choices.line}>
            Follows the time chosen above the panels
            {board === undefined ? "" : `, now ${ownLabel(board, Date.now())}`}.
          </span>
        </span>
      </label>
      {[...own].map(([value, each]) => (
        <label key={value}>
          <input type="radio" name={name} checked={chosen === value} onChange={() => onChange(each)} />
          <span>
            {ownTimeText(each, Date.now())}
            <span class={choices.line}>{aboutOwn(each)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Says how a range of a panel's own differs from the board's, and from another one that shows the same now. */
function aboutOwn(range: SavedRange): string {
  if (isFixed(range)) return "Shows these times also later, whatever the board shows.";
  return range !== null && "last" in range
    ? "Moves with the clock, whatever the board shows."
    : "Stays, whatever the board shows.";
}
