import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { isTwelveHour, timeFormat } from "../../../lib/zone.ts";
import type { LogEntry } from "../../../model/types.ts";
import { AnsiText, hasColours } from "./ansi-text.tsx";
import type { CellValue } from "./cells.ts";
import { writePath } from "./data-path.ts";
import { isInline, withoutColours } from "./inline-fields.ts";
import { Marked, type Matches } from "./marked.tsx";
import type { Missing } from "./missing.ts";
import { ownName } from "./own-name.ts";
import css from "./row.module.css";
import type { DataMatch } from "./search-match.ts";
import { shortNumber } from "./short-number.ts";
import type { ShownColumn } from "./use-row-parts.ts";

const CLOCK: Intl.DateTimeFormatOptions = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
};
const DAY: Intl.DateTimeFormatOptions = { weekday: "short", day: "2-digit", month: "short" };
const DAY_AND_TIME = timeFormat({ ...DAY, ...CLOCK });
const DATE_AND_TIME = timeFormat({ ...DAY, year: "numeric", ...CLOCK });
const TIME = timeFormat(CLOCK);
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
  /** Whether the time is enough, because all entries are of today. */
  isOneDay: boolean;
  /** Whether an entry is of another year than today. */
  hasYears: boolean;
  /** Members of `data` that are shown beside the message. */
  inline: readonly (readonly string[])[];
  /** The chosen columns, with their names. */
  cells: readonly ShownColumn[];
  /** The text that is searched for; empty without one. */
  search: string;
  /** What finds the search in an entry, once it is loaded. */
  matches: Matches | null;
  missing: Missing | undefined;
  /** Id of the details below, if they are there. */
  detailsId: string | undefined;
}

/**
 * An entry in one line, or in two on a narrow list. A row whose properties are the same is not rendered again (as every
 * component that reads a signal), so the list passes objects that do not change.
 */
export function Row({ entry, project, isNarrow, isOneDay, hasYears, inline, cells, search, ...rest }: RowProps) {
  const { isOpen, isMarked, isStop, detailsId, matches, missing } = rest;
  const { level, message, timestamp } = entry;
  const [category, type] = [visible(entry.category), visible(entry.type)];
  const service = visible(ownName(entry, "service"));
  const date = new Date(timestamp);
  const match = useMemo(() => matches && hiddenMatch(entry, search, matches), [entry, search, matches]);
  const classes: (string | undefined)[] = [css.row];
  if (isOpen) classes.push(css.open);
  if (isMarked) classes.push(css.marked);
  return (
    // A `div`, because the text of a button cannot be selected. The list handles its events.
    // biome-ignore lint/a11y/useSemanticElements: see above.
    <div
      role="button"
      class={classes.join(" ")}
      data-row
      tabIndex={isStop ? 0 : -1}
      aria-expanded={isOpen}
      aria-controls={detailsId}
      aria-current={isMarked ? "true" : undefined}
    >
      <time class={css.time} dateTime={timestamp} title={`${timestamp} (UTC)`}>
        {(isOneDay || (isNarrow && isToday(date)) ? TIME : hasYears ? DATE_AND_TIME : DAY_AND_TIME)(date)}
      </time>
      <span class={css.level}>{level}</span>
      <span class={css.source} title={`${category} / ${type}`}>
        {service === "" ? (
          <>
            {category}
            <span class={css.type}> / {type}</span>
          </>
        ) : (
          service
        )}
      </span>
      {project === null ? null : (
        <span class={css.project} title={visible(project)}>
          {visible(project)}
        </span>
      )}
      {isNarrow
        ? null
        : cells.map(({ field, read, isNumeric }) => (
            <Cell key={field} value={read(entry)} isNumeric={isNumeric} search={search} />
          ))}
      <span class={css.message}>
        {missing === undefined ? null : (
          <span class={css.missing} title={`Before this entry: ${missing.reasons.join("; ")}`}>
            {missing.entries === 1 ? "1 entry" : `${missing.entries.toLocaleString()} entries`} missing here
          </span>
        )}
        {match === null ? null : (
          <span class={css.match}>
            <span class={css.matchName}>{`${visible(writePath(match.names))}=`}</span>
            <Marked text={match.excerpt} />
          </span>
        )}
        <span class={css.text} data-message>
          {messageText(message.length > MESSAGE ? message.slice(0, MESSAGE) : message, search)}
        </span>
        {pairs(
          isNarrow && cells.length > 0
            ? [...cells.map(({ field, read }) => ({ name: field, ...read(entry) })), ...pairsOf(entry, inline, match)]
            : pairsOf(entry, inline, match),
          search,
        )}
      </span>
    </div>
  );
}

/** Classes for the widths of the cells of all rows and of their heading. */
export function cellsClass(list: Record<"isMixed" | "isOneDay" | "hasYears" | "isNarrow", boolean>): string {
  return [
    css.cells,
    list.isMixed ? css.mixed : "",
    list.isOneDay ? css.oneDay : list.hasYears ? css.years : "",
    isTwelveHour.value ? css.half : "",
    list.isNarrow ? css.narrow : "",
  ].join(" ");
}

function Cell({ value, isNumeric, search }: { value: CellValue; isNumeric: boolean; search: string }) {
  const { text, exact } = value;
  return (
    <span class={isNumeric ? `${css.cell} ${css.numeric}` : css.cell} title={visible(exact)}>
      {marked(text, search)}
    </span>
  );
}

/** A member with its value. */
interface Pair {
  name: string;
  /** As the row shows it; empty without the member. */
  text: string;
  exact: string;
}

/** Characters that have one direction, so that a value needs no element to be isolated from its neighbours. */
const ONE_DIRECTION = /^[ -~]*$/;

/**
 * Names with values, without those that an entry lacks. The space before a name is for copied text. A value is bare text
 * where it can be: elements are most of the work of a row that is scrolled into view.
 */
function pairs(all: readonly Pair[], search: string): ComponentChildren {
  const there = all.filter(({ text }) => text !== "");
  // The keys are places, so that an element that is filled again keeps those in it.
  return there.flatMap(({ name, text, exact }, at) => [
    <span key={at} class={css.key}>{` ${visible(name)}=`}</span>,
    search === "" && text === exact && ONE_DIRECTION.test(text) ? (
      text
    ) : (
      <span key={`=${at}`} class={css.value} title={text === exact ? undefined : exact}>
        {marked(text, search)}
      </span>
    ),
  ]);
}

/** Without a search the text itself: a component for each value is a third of a row's work. */
function marked(text: string, search: string): ComponentChildren {
  return search === "" ? visible(text) : <Marked text={text} />;
}

function messageText(text: string, search: string): ComponentChildren {
  return hasColours(text) ? <AnsiText text={text} /> : marked(text, search);
}

/** Members beside a message, without the one that the match shows already. */
function pairsOf(entry: LogEntry, inline: RowProps["inline"], match: DataMatch | null): Pair[] {
  const found = match?.names.join("\n");
  const shown = found === undefined ? inline : inline.filter((path) => path.join("\n") !== found);
  return shown.map((path) => ({ name: path.join("."), ...inlineTexts(entry, path) }));
}

const NO_TEXT = { text: "", exact: "" };

function inlineTexts({ data }: LogEntry, path: readonly string[]): Omit<Pair, "name"> {
  let value: unknown = data;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return NO_TEXT;
    // SAFETY: an object with this member.
    value = (value as Record<string, unknown>)[name];
  }
  if (!isInline(value)) return NO_TEXT;
  const exact = withoutColours(String(value));
  return { text: typeof value === "number" ? shortNumber(value) : exact, exact };
}

/** The match that explains why an entry was found, unless the visible part of its message contains one. */
function hiddenMatch(
  { message, data }: LogEntry,
  search: string,
  { firstMatchAt, matchInData }: Matches,
): DataMatch | null {
  const at = firstMatchAt(message, search);
  if (at < 0) return matchInData(data, search);
  return at < MESSAGE ? null : matchInData({ message }, search);
}

function isToday(date: Date): boolean {
  return date.getTime() >= new Date().setHours(0, 0, 0, 0);
}
