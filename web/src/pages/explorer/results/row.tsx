import { useContext, useMemo } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";
import { isSelecting } from "../../../ui/selection.ts";
import { visible } from "../view/visible.ts";
import { writePath } from "./data-path.ts";
import { Marked, SearchedText } from "./marked.tsx";
import { MissingEntries } from "./missing.ts";
import css from "./row.module.css";
import { type DataMatch, firstMatchAt, matchInData } from "./search-match.ts";

const CLOCK: Intl.DateTimeFormatOptions = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
};
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { day: "2-digit", month: "short", ...CLOCK });
const TIME = new Intl.DateTimeFormat(undefined, CLOCK);
/** Characters of a message that fit into a line. */
const MESSAGE = 600;

interface RowProps {
  entry: LogEntry;
  /** Project name, shown if the list has entries of several projects. */
  project: string | null;
  isOpen: boolean;
  isMarked: boolean;
  /** Whether this row is the tab stop. */
  isStop: boolean;
  isNarrow: boolean;
  detailsId: string;
  onToggle: () => void;
  onFocus: () => void;
}

/** An entry in one line, or in two on a narrow list. */
export function Row({ entry, project, isOpen, isMarked, isStop, isNarrow, detailsId, onToggle, onFocus }: RowProps) {
  const { level, message, timestamp } = entry;
  const [category, type] = [visible(entry.category), visible(entry.type)];
  const date = new Date(timestamp);
  const search = useContext(SearchedText);
  const missing = useContext(MissingEntries).get(entry.seq);
  const match = useMemo(() => hiddenMatch(entry, search), [entry, search]);
  const classes = [css.row];
  if (isNarrow) classes.push(css.narrow);
  if (isOpen) classes.push(css.open);
  if (isMarked) classes.push(css.marked);
  if (project !== null) classes.push(css.mixed);
  return (
    // A `div`, because the text of a button cannot be selected.
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
      <span class={css.message}>
        {missing === undefined ? null : (
          <span class={css.missing} title={`Before this entry: ${missing.reasons.join("; ")}`}>
            {missing.entries === 1 ? "1 entry" : `${missing.entries.toLocaleString()} entries`} missing here
          </span>
        )}
        {match === null ? null : (
          <span class={css.match}>
            {visible(writePath(match.names))}: <Marked text={match.excerpt} />
          </span>
        )}
        <span class={css.text} data-message>
          <Marked text={message.length > MESSAGE ? message.slice(0, MESSAGE) : message} />
        </span>
      </span>
    </div>
  );
}

/** The match that explains why an entry was found, unless the visible part of its message contains one. */
function hiddenMatch({ message, data }: LogEntry, search: string): DataMatch | null {
  if (search === "") return null;
  const at = firstMatchAt(message, search);
  if (at < 0) return matchInData(data, search);
  return at < MESSAGE ? null : matchInData({ message }, search);
}

function isToday(date: Date): boolean {
  return date.getTime() >= new Date().setHours(0, 0, 0, 0);
}
