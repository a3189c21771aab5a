import { ArrowUp } from "lucide";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { isSelecting } from "../../../ui/selection.ts";
import { useLatest } from "../../../ui/use-latest.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import type { FilterPatch } from "../filters.ts";
import type { Column } from "../view/columns.ts";
import css from "./entry-list.module.css";
import { hasTwoLines, isCrowded, usualWidth, widths } from "./list-widths.ts";
import { MATCHES, SearchedText } from "./marked.tsx";
import { MissingEntries } from "./missing.ts";
import { cellsClass, Row } from "./row.tsx";
import { useArrivals } from "./use-arrivals.ts";
import { useClosedHeights, useDays } from "./use-days.ts";
import { openRows, useRowElements } from "./use-row-elements.ts";
import { indexOfRow, rowAt, useRowKeys } from "./use-row-keys.ts";
import { useRowParts } from "./use-row-parts.ts";
import { useVirtual } from "./use-virtual.ts";

/** The names of the columns, which have their place before they are loaded. */
const HEAD = lazyModule(() => import("./list-head.tsx"));
/** What an open entry shows, which the first row does not need. */
const DETAILS = lazyModule(() => import("./details.tsx"));

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 5;
/** Rows before the end at which the next page is requested. */
const NEAR_END = 40;

export interface EntryListProps {
  /** Accessible name of the list. */
  label: string;
  entries: readonly LogEntry[];
  /** Query of the entries. A new query starts the list at its top. */
  query?: string | undefined;
  projectNames?: ReadonlyMap<string, string> | undefined;
  /** Whether a list at its top follows new entries. Elsewhere, and without `follow`, the visible rows stay in place. */
  follow: boolean;
  /** Id of an entry to scroll to and highlight. */
  marked?: string | undefined;
  /** Whether the marked entry is open initially. */
  opened?: boolean;
  hasMore: boolean;
  /** Called near the end, once for each last entry, and again when the list becomes idle. */
  onNearEnd: () => void;
  /** False while a page loads, or if the next page failed. */
  isIdle: boolean;
  onFilter: (patch: FilterPatch) => void;
  onContext: (entry: LogEntry) => void;
  linkTo?: ((entry: LogEntry) => string) | undefined;
  /** The chosen columns; without any, the rows show what varies. */
  columns?: readonly Column[] | undefined;
  /** Absent if the columns cannot be changed. */
  onColumns?: ((columns: readonly Column[]) => void) | undefined;
  /** Id of the entry that is open initially, and a call for each entry that opens or closes. */
  shown?: string | undefined;
  onShown?: ((id: string | null) => void) | undefined;
  /** Gets the ids of all open entries whenever they change; none once the list is gone. */
  onOpen?: ((ids: readonly string[]) => void) | undefined;
  /** Shown below the last row. */
  foot?: ComponentChildren;
}

/**
 * A virtual list: only visible rows are in the page, plus the tab stop and open entries, so that scrolling loses
 * neither the focus nor their expanded state.
 */
export function EntryList(props: EntryListProps) {
  const { entries, projectNames, follow, marked, hasMore, foot } = props;
  const [dragged, setDragged] = useState<readonly Column[] | null>(null);
  const columns = dragged ?? props.columns ?? NO_COLUMNS;
  const box = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLUListElement>(null);
  const detailsId = useId();
  const [open, setOpen] = useState<readonly string[]>(() =>
    props.opened && marked !== undefined ? [marked] : props.shown === undefined ? [] : [props.shown],
  );
  const [width, setWidth] = useState(usualWidth);
  const head = useRef<HTMLDivElement>(null);
  const { inline, cells, candidates, source, isOneDay, hasYears } = useRowParts(entries, columns, props.query, width);
  const isMixed = useMemo(() => entries.some(({ projectId }) => projectId !== entries[0]?.projectId), [entries]);
  const isNarrow = hasTwoLines(width, isMixed);
  const { dateAbove, sizeOf, getItemKey } = useDays(entries, isNarrow);
  const openIndexes = useMemo(() => openRows(entries, open), [entries, open]);
  const keys = useRowKeys(entries, (index) => {
    virtual?.scrollToIndex(index, { align: "auto" });
    return virtual !== null;
  });
  const arrivals = useArrivals(entries, {
    query: props.query,
    follow,
    isReading: openIndexes.length > 0,
    toTop: () => toTop(),
  });
  const { stop } = keys;
  const list = useVirtual(
    (isInPage) => ({
      count: entries.length,
      estimateSize: sizeOf,
      getItemKey,
      overscan: OVERSCAN,
      // Keeps the visible rows in place when rows are added or grow above them. In the page the controls are above the
      // first row: a refresh there must not scroll them out of sight.
      anchorTo: arrivals.isFollowing || arrivals.isNew || (isInPage && arrivals.isAtTop) ? "start" : "end",
      // Never stick to the last row.
      scrollEndThreshold: -1,
      rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
        const indexes = new Set([...openIndexes, stop]);
        for (let index = startIndex - overscan; index <= endIndex + overscan; index++) indexes.add(index);
        return [...indexes].filter((index) => index >= 0 && index < count).sort((a, b) => a - b);
      },
    }),
    { box, rows, onScroll: arrivals.onScroll },
  );
  const { virtual, items, margin, toTop } = list;
  const elements = useRowElements(
    items.map(({ key }) => key),
    open,
    rows,
  );
  const search = useContext(SearchedText);
  const matches = useLazy(MATCHES, search !== "");
  const missing = useContext(MissingEntries);
  const heading = useLazy(HEAD, virtual !== null && !isNarrow);
  const measured = virtual?.scrollRect?.width;
  useLayoutEffect(() => {
    const now = measured ?? box.current?.clientWidth;
    if (now !== undefined) setWidth(now);
  }, [measured]);
  useLayoutEffect(() => {
    const index = marked === undefined ? -1 : entries.findIndex(({ id }) => id === marked);
    if (index < 0 || virtual === null) return;
    keys.point(index, box.current);
    virtual.scrollToIndex(index, { align: "center" });
  }, [marked, virtual]);
  useLayoutEffect(() => {
    const index = props.shown === undefined ? -1 : entries.findIndex(({ id }) => id === props.shown);
    if (index < 0 || virtual === null) return;
    keys.point(index);
    virtual.scrollToIndex(index, { align: "auto" });
  }, [virtual]);

  // The tab stop follows the visible rows, unless the list has the focus.
  const { startIndex, endIndex } = list.range;
  const isElsewhere = stop < startIndex || stop > endIndex;
  const hasFocus = box.current?.contains(document.activeElement) ?? false;
  const tabStop = isElsewhere && !hasFocus ? startIndex : stop;
  const isNearEnd = hasMore && props.isIdle && endIndex >= entries.length - NEAR_END;
  useEffect(() => {
    if (isNearEnd) props.onNearEnd();
  }, [isNearEnd, entries.at(-1)?.id]);

  useEffect(() => {
    props.onOpen?.(open);
    return () => props.onOpen?.([]);
  }, [open]);
  const parts = useLazy(DETAILS, open.length > 0, () => setOpen([]));
  const toggle = useLatest((entry: LogEntry): void => {
    const isOpen = open.includes(entry.id);
    const next = isOpen ? open.filter((id) => id !== entry.id) : [...open, entry.id];
    setOpen(next);
    props.onShown?.(isOpen ? null : entry.id);
    // The element in which the entry was open before may show another open entry now, which must stay measured.
    virtual?.elementsCache.delete(entry.id);
    // A closed row is not measured: its height is known.
    if (isOpen) virtual?.resizeItem(entries.indexOf(entry), sizeOf(entries.indexOf(entry)));
  });
  useClosedHeights(list, open, sizeOf);
  return (
    <div class={`${css.frame} ${cellsClass({ isMixed, isOneDay, hasYears, isNarrow })}`} style={widths(columns)}>
      {arrivals.fresh > 0 ? (
        <div class={css.fresh}>
          <Button
            look="primary"
            small
            icon={ArrowUp}
            onClick={() => {
              arrivals.clear();
              toTop();
              keys.point(0, box.current);
            }}
          >
            {arrivals.fresh.toLocaleString()} new
          </Button>
        </div>
      ) : null}
      {isNarrow ? null : (
        <div class={css.head} ref={head} data-crowded={isCrowded(width, isMixed, columns)}>
          {heading === null ? null : (
            <heading.ListHead
              source={source}
              hasProject={isMixed}
              columns={columns}
              cells={cells}
              onColumns={
                props.onColumns === undefined
                  ? null
                  : (next, isDone) => {
                      setDragged(isDone ? null : next);
                      if (isDone) props.onColumns?.(next);
                    }
              }
              candidates={candidates}
            />
          )}
        </div>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its rows handle the keys. */}
      <div
        ref={box}
        class={css.box}
        data-list
        onScroll={({ currentTarget }) => {
          if (head.current !== null) head.current.scrollLeft = currentTarget.scrollLeft;
        }}
        onKeyDown={(event) =>
          keys.onKeyDown(event, {
            onContext: props.onContext,
            onCopy: (entry) => void DETAILS.load().then(({ copyAsText }) => copyAsText(entry)),
            toggle,
            open,
          })
        }
      >
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box handles the keys. */}
        <ul
          ref={rows}
          class={css.rows}
          aria-label={props.label}
          style={{ height: `${list.height}px` }}
          onClick={({ target }) => {
            const row = rowAt(target);
            const entry = entries[indexOfRow(row)];
            if (row !== null && entry !== undefined && !isSelecting(row)) toggle(entry);
          }}
          onFocusIn={({ target }) => keys.point(indexOfRow(rowAt(target)))}
        >
          {items.map(({ index, key, start }) => {
            const entry = entries[index];
            if (entry === undefined) return null;
            const element = elements.get(key);
            const isOpen = open.includes(entry.id);
            const date = dateAbove(index);
            const project = projectNames?.get(entry.projectId) ?? entry.projectId;
            // Their code may still be loading.
            const areDetailsShown = isOpen && parts !== null && virtual !== null;
            const shownDetailsId = areDetailsShown ? `${detailsId}-${entry.id}` : undefined;
            return (
              <li
                key={element}
                data-element={element}
                ref={isOpen ? (node) => virtual?.measureElement(node) : null}
                data-index={index}
                data-level={entry.level}
                class={`${css.item} ${isOpen ? css.opened : css.closed} ${date === null ? "" : css.first}`}
                aria-posinset={index + 1}
                aria-setsize={hasMore ? -1 : entries.length}
                style={{ top: `${start - margin}px` }}
              >
                {date === null ? null : <p class={css.date}>{date}</p>}
                <Row
                  entry={entry}
                  project={isMixed ? project : null}
                  isOpen={isOpen}
                  isMarked={entry.id === marked}
                  isStop={index === tabStop}
                  isNarrow={isNarrow}
                  isOneDay={isOneDay}
                  hasYears={hasYears}
                  inline={inline}
                  cells={cells}
                  search={search}
                  matches={matches}
                  missing={missing.get(entry.seq)}
                  detailsId={shownDetailsId}
                />
                {parts !== null && shownDetailsId !== undefined ? (
                  <parts.Details
                    key={entry.id}
                    id={shownDetailsId}
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

const NO_COLUMNS: readonly Column[] = [];
