import { Clock } from "lucide";
import { useState } from "preact/hooks";
import { zone, zoneLabel } from "../../../lib/zone.ts";
import { Popover } from "../../../ui/popover.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { rangeLabel } from "../view/format.ts";
import type { Range, Times } from "../view/range.ts";
import css from "./toolbar.module.css";

/** The choice of times, loaded when it opens. */
const CHOICE = lazyModule(() => import("./time-choice.tsx"));

interface TimeRangeProps {
  range: Range;
  /** The current bounds of the range: initial values of a typed range. */
  times: Times;
  onChange: (range: Range) => void;
}

/** The time range as a button. Its box has the ranges, a field to type one, and the time zone. */
export function TimeRange({ range, times, onChange }: TimeRangeProps) {
  const label = rangeLabel(range);
  return (
    <span class={css.time}>
      <Popover
        label={label}
        hint={zoneLabel(zone.value)}
        name={`Time range: ${label} ${zoneLabel(zone.value)}`}
        icon={Clock}
        shortcut="time"
        placement="bottom-end"
      >
        {(close) => (
          <Choice
            range={range}
            times={times}
            onChange={(next) => {
              onChange(next);
              close();
            }}
          />
        )}
      </Popover>
    </span>
  );
}

function Choice(props: TimeRangeProps) {
  const [hasFailed, setFailed] = useState(false);
  const choice = useLazy(CHOICE, true, () => setFailed(true));
  if (choice === null) return <p>{hasFailed ? "Could not be loaded." : "Loading …"}</p>;
  return <choice.TimeChoice {...props} />;
}
