import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import type { FilterPatch } from "../filters.ts";
import { Details } from "./details.tsx";
import css from "./entry-list.module.css";
import { Row } from "./row.tsx";
import { useArrivals } from "./use-arrivals.ts";
import { useRowKeys } from "./use-row-keys.ts";
import { useVirtual } from "./use-virtual.ts";

/** Heights of a closed row in pixels, as row.module.css has them. */
const ROW = 32;
const NARROW_ROW = 54;
/** Width of the list in pixels below which a row takes two lines. */
const NARROW = 720;
/** The same where each row names its project. */
const NARROW_MIXED = 900;
/** Rows beside those to be seen that are there already. */
const OVERSCAN = 5;
/** Rows before the end at which more are asked for. */
const NEAR_END = 40;
/** Open entries that stay in the page when they are scrolled away, with what was opened in them. */
const KEPT_OPEN = 20;

export interface EntryListProps {
  /** What the list is of, for who cannot see it. */
  label: string;
  entries: readonly LogEntry[];
  /** Whatever they were asked for by: where it changes, the list begins at its top. */
  query?: string | undefined;
  projectNames?: ReadonlyMap<string, string> | undefined;
  /** New entries at the top, live or after a reload: follow them there, stay in place elsewhere. Else always stay. */
  follow: boolean;
  /** The id of an entry to begin with and to set off from the others. */
  marked?: string | undefined;
  /** Whether that entry is open at first. */
  opened?: boolean;
  hasMore: boolean;
  /** Called as the end comes near, once for each last entry, and again after a time that was not idle. */
  onNearEnd: () => void;
  /** False while something loads, or what was asked for at the end has failed. */
  isIdle: boolean;
  onFilter: (patch: FilterPatch) => void;
  onContext: (entry: LogEntry) => void;
  linkTo?: ((entry: LogEntry) => string) | undefined;
  /** Stands behind the last row. */
  foot?: ComponentChildren;
}

/**
 * Any number of entries, of which only those to be seen are in the page, beside the one that Tab comes to and those
 * that are open: so neither focus nor what was opened gets lost by scrolling.
 */
export function EntryList(props: EntryListProps) {
  const { entries, projectNames, follow, marked, hasMore, foot } = props;
  const box = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLUListElement>(null);
  const detailsId = useId();
  const [open, setOpen] = useState<readonly string[]>(props.opened && marked !== undefined ? [marked] : []);
  const [width, setWidth] = useState(NARROW_MIXED);
  const isMixed = useMemo(() => entries.some(({ projectId }) => projectId !== entries[0]?.projectId), [entries]);
  const isNarrow = width < (isMixed ? NARROW_MIXED : NARROW);
  const getItemKey = useCallback((index: number) => entries[index]?.id ?? index, [entries]);
  const openIndexes = useMemo(() => indexesOf(entries, open), [entries, open]);
  const keys = useRowKeys(entries, (index) => virtual.scrollToIndex(index, { align: "auto" }));
  const arrivals = useArrivals(entries, {
    query: props.query,
    follow,
    isReading: openIndexes.length > 0,
    toTop: () => toTop(),
  });
  const { stop } = keys;
  const { virtual, margin, toTop } = useVirtual(
    (isInPage) => ({
      count: entries.length,
      estimateSize: () => (isNarrow ? NARROW_ROW : ROW),
      getItemKey,
      overscan: OVERSCAN,
      // What is being read stays where it is when rows come or grow above it. In the page the controls are above
      // the first row: a refresh there must not scroll them out of sight.
      anchorTo: arrivals.isFollowing || arrivals.isNew || (isInPage && arrivals.isAtTop) ? "start" : "end",
      // Never take the last row as a place to stick to.
      scrollEndThreshold: -1,
      rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
        const indexes = new Set([...openIndexes, stop]);
        for (let index = startIndex - overscan; index <= endIndex + overscan; index++) indexes.add(index);
        return [...indexes].filter((index) => index >= 0 && index < count).sort((a, b) => a - b);
      },
    }),
    { box, rows, onScroll: arrivals.onScroll },
  );
  const { scrollRect } = virtual;
  useLayoutEffect(() => {
    if (scrollRect !== null) setWidth(scrollRect.width);
  }, [scrollRect?.width]);
  useLayoutEffect(() => virtual.measure(), [isNarrow]);
  useLayoutEffect(() => {
    const index = marked === undefined ? -1 : entries.findIndex(({ id }) => id === marked);
    if (index < 0) return;
    keys.point(index, box.current);
    virtual.scrollToIndex(index, { align: "center" });
  }, [marked]);

  const items = virtual.getVirtualItems();
  // Tab comes to where the reader is, unless the list has the focus: then that is where it stays.
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {};
  const isElsewhere = stop < startIndex || stop > endIndex;
  const hasFocus = box.current?.contains(document.activeElement) ?? false;
  const tabStop = isElsewhere && !hasFocus ? startIndex : stop;
  const isNearEnd = hasMore && props.isIdle && endIndex >= entries.length - NEAR_END;
  useEffect(() => {
    if (isNearEnd) props.onNearEnd();
  }, [isNearEnd, entries.at(-1)?.id]);

  const toggle = (entry: LogEntry, index: number): void => {
    const isOpen = open.includes(entry.id);
    setOpen(isOpen ? open.filter((id) => id !== entry.id) : [...open, entry.id]);
    // A closed row is not measured: its height is known.
    if (isOpen) virtual.resizeItem(index, isNarrow ? NARROW_ROW : ROW);
  };
  return (
    <div class={css.frame}>
      {arrivals.fresh > 0 ? (
        <div class={css.fresh}>
          <Button
            look="primary"
            small
            onClick={() => {
              arrivals.clear();
              toTop();
              keys.point(0, box.current);
            }}
          >
            ↑ {arrivals.fresh.toLocaleString()} new
          </Button>
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows in it are what the keys are for. */}
      <div
        ref={box}
        class={css.box}
        data-list
        onKeyDown={(event) => keys.onKeyDown(event, { onContext: props.onContext, toggle, open })}
      >
        <ul ref={rows} class={css.rows} aria-label={props.label} style={{ height: `${virtual.getTotalSize()}px` }}>
          {items.map(({ index, key, start }) => {
            const entry = entries[index];
            if (entry === undefined) return null;
            const isOpen = open.includes(entry.id);
            const project = projectNames?.get(entry.projectId) ?? entry.projectId;
            return (
              <li
                key={String(key)}
                ref={isOpen ? (node) => virtual.measureElement(node) : null}
                data-index={index}
                data-level={entry.level}
                class={isOpen ? css.item : `${css.item} ${css.closed}`}
                aria-posinset={index + 1}
                aria-setsize={hasMore ? -1 : entries.length}
                style={{ transform: `translateY(${start - margin}px)` }}
              >
                <Row
                  entry={entry}
                  project={isMixed ? project : null}
                  isOpen={isOpen}
                  isMarked={entry.id === marked}
                  isStop={index === tabStop}
                  isNarrow={isNarrow}
                  detailsId={`${detailsId}-${entry.id}`}
                  onToggle={() => toggle(entry, index)}
                  onFocus={() => keys.point(index)}
                />
                {isOpen ? (
                  <Details
                    id={`${detailsId}-${entry.id}`}
                    entry={entry}
                    project={project}
                    onFilter={props.onFilter}
                    onContext={entry.id === marked ? null : () => props.onContext(entry)}
                    link={props.linkTo?.(entry) ?? null}
                  />
                ) : null}
              </li>
            );
          })}
        </ul>
        {foot}
      </div>
    </div>
  );
}

function indexesOf(entries: readonly LogEntry[], ids: readonly string[]): number[] {
  if (ids.length === 0) return [];
  const wanted = new Set(ids.slice(-KEPT_OPEN));
  return entries.flatMap(({ id }, index) => (wanted.has(id) ? [index] : []));
}
