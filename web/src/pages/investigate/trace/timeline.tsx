import { ChevronDown, ChevronRight } from "lucide";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import tones from "../../../charts/tones.module.css";
import { visible } from "../../../lib/visible.ts";
import type { Level } from "../../../model/types.ts";
import { density, ROW_HEIGHTS } from "../../../ui/density.ts";
import { Icon } from "../../../ui/icon.tsx";
import { useMedia } from "../../../ui/use-media.ts";
import { lengthText } from "../length-text.ts";
import { moreSevere } from "../more-severe.ts";
import type { Span } from "./spans.ts";
import css from "./timeline.module.css";
import { useWindow } from "./use-window.ts";
import { openRows, placeOf, scaleOf, type Waterfall, type WaterfallRow } from "./waterfall-model.ts";

/** Windows in which a row has two lines. The style sheet has the same width. */
const NARROW = "(width < 600px)";
/** Levels of the tree that are indented; deeper ones are at the same place. */
const INDENTED = 12;
/** Marks of the scale, at most. */
const MARKS = 5;
/** Characters of a message in a row. */
const SHOWN = 200;
/** Series that have a colour of their own. */
const SERIES = 6;

type Tone = keyof typeof tones;

interface TimelineProps {
  waterfall: Waterfall;
  /** Key of the span whose details are shown. */
  selected: string | null;
  onSelect: (span: Span) => void;
}

/** The spans of a trace as bars over time. The arrow keys move, close and open; Enter shows the details. */
export function Timeline({ waterfall, selected, onSelect }: TimelineProps) {
  const { start, end, services } = waterfall;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => openRows(waterfall.rows, closed), [waterfall, closed]);
  const [current, setCurrent] = useState<string | null>(selected);
  const box = useRef<HTMLDivElement>(null);
  // In a narrow window the bar is below the name.
  const isNarrow = useMedia(NARROW);
  const height = ROW_HEIGHTS[density.value][isNarrow ? "two" : "one"];
  const { first, last } = useWindow(box, height, rows.length);
  const isListed = rows.some(({ span }) => span.key === current);
  const stop = isListed ? current : (rows[0]?.span.key ?? null);
  // The focus follows the current row, which may have to be drawn first.
  const wantsFocus = useRef(false);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const row = box.current?.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]');
    if (!row) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  });
  const at = rows.findIndex(({ span }) => span.key === stop);
  // A link to an entry shows its row.
  useLayoutEffect(() => {
    if (box.current !== null && selected !== null) box.current.scrollTop = at * height - box.current.clientHeight / 2;
  }, []);
  const go = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    wantsFocus.current = true;
    setCurrent(row.span.key);
  };
  const toggle = (key: string, isOpen: boolean): void => {
    const next = new Set(closed);
    if (isOpen) next.delete(key);
    else next.add(key);
    setClosed(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const { span } = row;
    const isParent = span.children.length > 0;
    const isOpen = isParent && !closed.has(span.key);
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / height) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) go(to);
    else if (event.key === "Enter" || event.key === " ") onSelect(span);
    else if (event.key === "ArrowRight" && isParent) {
      if (isOpen) go(at + 1);
      else toggle(span.key, true);
    } else if (event.key === "ArrowLeft") {
      if (isOpen) toggle(span.key, false);
      else if (row.parent !== null) go(rows.findIndex((each) => each.span.key === row.parent));
    } else return;
    event.preventDefault();
  };
  const shown = rows.slice(first, last + 1);
  // The tab stop is always in the page, so that the keyboard reaches the list and keeps its place.
  const kept = at >= 0 && (at < first || at > last) ? rows.slice(at, at + 1) : [];
  const toneOf = (service: string): Tone => seriesOf(services.indexOf(service));
  return (
    <div class={css.timeline}>
      <ul class={css.legend} aria-label="Services">
        {services.slice(0, SERIES).map((service) => (
          <li key={service} class={tones[toneOf(service)]}>
            <span class={css.key} aria-hidden="true" />
            {service === "" ? "without service" : visible(service)}
          </li>
        ))}
        {services.length > SERIES ? (
          <li class={tones.other}>
            <span class={css.key} aria-hidden="true" />
            {services.length - SERIES} others
          </li>
        ) : null}
      </ul>
      <div class={css.scale} aria-hidden="true">
        <div class={css.marks}>
          {scaleOf(end - start, MARKS).map((ms) => (
            <span key={ms} style={{ left: `${end === start ? 0 : (100 * ms) / (end - start)}%` }}>
              {lengthText(ms)}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={box}
        class={css.box}
        role="tree"
        aria-label="Timeline"
        aria-description="Arrow keys move, close and open. Enter shows the details."
        onKeyDown={onKeyDown}
      >
        <div class={css.rows} role="presentation" style={{ height: `${rows.length * height}px` }}>
          {[...kept, ...shown].map((row) => {
            const index = row === kept[0] ? at : first + shown.indexOf(row);
            return (
              <TimelineRow
                key={row.span.key}
                row={row}
                top={index * height}
                isStop={row.span.key === stop}
                isOpen={row.span.children.length === 0 ? null : !closed.has(row.span.key)}
                isSelected={row.span.key === selected}
                tone={toneOf(row.span.service)}
                waterfall={waterfall}
                onSelect={() => {
                  setCurrent(row.span.key);
                  onSelect(row.span);
                }}
                onToggle={(isOpen) => toggle(row.span.key, isOpen)}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function seriesOf(at: number): Tone {
  return at >= 0 && at < SERIES ? `series${at + 1}` : "other";
}

interface TimelineRowProps {
  row: WaterfallRow;
  top: number;
  isStop: boolean;
  /** `null`: without children. */
  isOpen: boolean | null;
  isSelected: boolean;
  tone: Tone;
  waterfall: Waterfall;
  onSelect: () => void;
  onToggle: (isOpen: boolean) => void;
}

function TimelineRow({ row, top, isStop, isOpen, isSelected, tone, waterfall, ...on }: TimelineRowProps) {
  const { span, depth, place, siblings } = row;
  const { left, width } = placeOf(span, waterfall);
  const isMoment = span.source === "moment";
  const length = isMoment ? "" : lengthText(span.end - span.start);
  const isSevere = ["warn", "error", "fatal"].includes(span.level);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys of its rows.
    <div
      role="treeitem"
      class={css.row}
      style={{ transform: `translateY(${top}px)` }}
      tabIndex={isStop ? 0 : -1}
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={isOpen ?? undefined}
      aria-selected={isSelected}
      data-level={span.level}
      onClick={on.onSelect}
    >
      <span
        class={css.name}
        style={{ paddingInlineStart: `${Math.min(depth, INDENTED) * 14}px` }}
        title={visible(span.entry.message.slice(0, SHOWN))}
      >
        {isOpen === null ? (
          <span class={css.leaf} />
        ) : (
          <span
            class={css.toggle}
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              on.onToggle(!isOpen);
            }}
          >
            <Icon shape={isOpen ? ChevronDown : ChevronRight} size={14} />
          </span>
        )}
        {isSevere ? (
          <span class={`${css.level} ${tones[span.level]}`}>
            {span.level === span.entry.level ? span.level : `has ${span.level}`}
          </span>
        ) : null}
        <span class={css.text}>{visible(span.entry.message.slice(0, SHOWN))}</span>
      </span>
      <span class={css.service} title={visible(span.service)}>
        {span.service === "" ? "–" : visible(span.service)}
        {isSevere ? null : <span class="visually-hidden">, {span.level}</span>}
      </span>
      <span class={css.track}>
        <span
          class={`${isMoment ? css.moment : css.bar} ${tones[tone]}`}
          data-source={span.source}
          style={isMoment ? { left: `${100 * left}%` } : { left: `${100 * left}%`, width: `${100 * width}%` }}
        />
        {eventsOf(span, waterfall).map(([at, level]) => (
          <span key={at} class={`${css.event} ${tones[level]}`} style={{ left: `${at}%` }} />
        ))}
        <span class={css.length} style={{ left: `${100 * (left + width)}%` }}>
          {length}
          <span class="visually-hidden"> after {lengthText(span.start - waterfall.start)}</span>
        </span>
      </span>
    </div>
  );
}

/** Marks of the entries of a span: one at each tenth of a percent of the width, of the most severe entry there. */
function eventsOf({ entries }: Span, waterfall: Waterfall): [at: number, level: Level][] {
  if (entries.length < 2) return [];
  const events = new Map<number, Level>();
  for (const { timestamp, level } of entries) {
    const moment = Date.parse(timestamp);
    const at = Math.round(1000 * placeOf({ start: moment, end: moment }, waterfall).left) / 10;
    events.set(at, moreSevere(events.get(at) ?? null, level) ?? level);
  }
  return [...events];
}
