import { useId } from "preact/hooks";
import type { SavedRange } from "../../model/boards.ts";
import choices from "../../ui/choices.module.css";
import { isFixed, ownLabel, ownTimeText } from "./board-query.ts";
import { type ChartParts, fixedRange } from "./kept-parts.ts";

interface TimeFieldProps {
  /** The range that the board shows now; absent where no board is open. */
  board?: SavedRange;
  /** `undefined`: that of the board. */
  range: SavedRange | undefined;
  /** Ranges that the panel can have of its own. */
  offered: readonly (SavedRange | undefined)[];
  /** Parts of the chart that the panel can keep as well; absent where no chart is saved. */
  parts?: ChartParts;
  onChange: (range: SavedRange | undefined) => void;
}

/** A choice between the range of the board and one that the panel keeps. */
export function TimeField({ board, range, offered, parts, onChange }: TimeFieldProps) {
  const name = useId();
  const own = new Map<string, { range: SavedRange; about: string }>();
  for (const each of offered)
    if (each !== undefined) own.set(JSON.stringify(each), { range: each, about: aboutOwn(each, parts !== undefined) });
  for (const [part, about] of PARTS) {
    const each = parts?.[part] === undefined ? null : fixedRange(parts[part]);
    if (each !== null && !own.has(JSON.stringify(each))) own.set(JSON.stringify(each), { range: each, about });
  }
  const chosen = range === undefined ? null : JSON.stringify(range);
  return (
    <fieldset class={choices.choices}>
      <legend>Time</legend>
      <label>
        <input type="radio" name={name} checked={chosen === null} onChange={() => onChange(undefined)} />
        <span>
          Same as the board
          <span class={choices.line}>
            Changes with the time above the panels
            {board === undefined ? "" : `, now ${ownLabel(board, Date.now())}`}.
          </span>
        </span>
      </label>
      {[...own].map(([value, { range: each, about }]) => (
        <label key={value}>
          <input type="radio" name={name} checked={chosen === value} onChange={() => onChange(each)} />
          <span>
            {ownTimeText(each, Date.now())}
            <span class={choices.line}>{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What the parts of a chart are. */
const PARTS: readonly (readonly [part: keyof ChartParts, about: string])[] = [
  ["selected", "What is selected on the chart."],
  ["entries", "Zoomed to the entries, with as much time before and after."],
];

/** Says how a range of a panel's own differs from the board's, and from another one that shows the same now. */
function aboutOwn(range: SavedRange, isOfChart: boolean): string {
  if (isFixed(range) && isOfChart) return "The whole chart.";
  return range !== null && "last" in range ? "Moves on, whatever the board shows." : "Stays, whatever the board shows.";
}
