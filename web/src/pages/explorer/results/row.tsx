import type { LogEntry } from "../../../model/types.ts";
import { isSelecting } from "../../../ui/selection.ts";
import { visible } from "../view/visible.ts";
import css from "./row.module.css";

const CLOCK: Intl.DateTimeFormatOptions = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
};
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { day: "2-digit", month: "short", ...CLOCK });
const TIME = new Intl.DateTimeFormat(undefined, CLOCK);
/** Characters of a message that a line can have room for. */
const MESSAGE = 600;

interface RowProps {
  entry: LogEntry;
  /** Named where entries of several projects stand together. */
  project: string | null;
  isOpen: boolean;
  isMarked: boolean;
  /** Whether Tab comes to this row. */
  isStop: boolean;
  isNarrow: boolean;
  detailsId: string;
  onToggle: () => void;
  onFocus: () => void;
}

/** An entry in one line, or two where there is no room. */
export function Row({ entry, project, isOpen, isMarked, isStop, isNarrow, detailsId, onToggle, onFocus }: RowProps) {
  const { level, message, timestamp } = entry;
  const [category, type] = [visible(entry.category), visible(entry.type)];
  const date = new Date(timestamp);
  const classes = [css.row];
  if (isNarrow) classes.push(css.narrow);
  if (isOpen) classes.push(css.open);
  if (isMarked) classes.push(css.marked);
  if (project !== null) classes.push(css.mixed);
  return (
    // The text of a button cannot be selected.
    // biome-ignore lint/a11y/useSemanticElements: see above.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys of its rows.
    <div
      role="button"
      class={classes.join(" ")}
      data-row
      tabIndex={isStop ? 0 : -1}
      aria-expanded={isOpen}
      aria-controls={isOpen ? detailsId : undefined}
      aria-current={isMarked ? "true" : undefined}
      onClick={({ currentTarget }) => {
        if (!isSelecting(currentTarget)) onToggle();
      }}
      onFocus={onFocus}
    >
      <time class={css.time} dateTime={timestamp} title={`${timestamp} (UTC)`}>
        {(isNarrow && isToday(date) ? TIME : DAY_AND_TIME).format(date)}
      </time>
      <span class={css.level}>{level}</span>
      <span class={css.source} title={`${category} / ${type}`}>
        {category}
        <span class={css.type}> / {type}</span>
      </span>
      {project === null ? null : (
        <span class={css.project} title={visible(project)}>
          {visible(project)}
        </span>
      )}
      <span class={css.message} data-message>
        {visible(message.length > MESSAGE ? message.slice(0, MESSAGE) : message)}
      </span>
    </div>
  );
}

function isToday(date: Date): boolean {
  return date.getTime() >= new Date().setHours(0, 0, 0, 0);
}
