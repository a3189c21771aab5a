import type { SavedRange } from "../../model/boards.ts";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { ownTimeText } from "./board-query.ts";

/** Value of the choice of the board's range. */
const BOARD = "board";

interface TimeFieldProps {
  /** `undefined`: that of the board. */
  range: SavedRange | undefined;
  /** Ranges that the panel can have of its own. */
  offered: readonly (SavedRange | undefined)[];
  onChange: (range: SavedRange | undefined) => void;
}

/** A choice between the range of the board and one that the panel keeps. */
export function TimeField({ range, offered, onChange }: TimeFieldProps) {
  const own = new Map(offered.flatMap((each) => (each === undefined ? [] : [[JSON.stringify(each), each] as const])));
  return (
    <Field label="Time">
      {(props) => (
        <Select
          {...props}
          value={range === undefined ? BOARD : JSON.stringify(range)}
          options={[
            { value: BOARD, label: "Of the board" },
            ...[...own].map(([value, each]) => ({ value, label: ownTimeText(each, Date.now()) })),
          ]}
          onChange={(value) => onChange(own.get(value))}
        />
      )}
    </Field>
  );
}
