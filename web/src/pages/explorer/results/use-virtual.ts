import type { PartialKeys, VirtualItem, Virtualizer, VirtualizerOptions } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { useAfterPaint } from "../../../ui/use-after-paint.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { marginOf, observeOffset, observeRect, offsetOf, type Scroller, scrollerOf } from "./list-scroller.ts";

/** The first rows have their place without it. */
const CORE = lazyModule(() => import("@tanstack/virtual-core"));

/** Pixels above the list at its top, at least: controls, histogram and names of columns. */
const ABOVE = 192;

type AllOptions = VirtualizerOptions<Scroller, HTMLElement>;
type Options = Omit<
  PartialKeys<AllOptions, "observeElementRect" | "observeElementOffset" | "scrollToFn">,
  "getScrollElement" | "scrollMargin"
> &
  Required<Pick<AllOptions, "getItemKey" | "rangeExtractor">>;

interface VirtualList {
  /** The box around the rows. Its `overflow` decides whether the box or the page scrolls. */
  box: RefObject<HTMLElement | null>;
  /** The parent of the rows, as high as all rows. */
  rows: RefObject<HTMLElement | null>;
  /**
   * Called with the scroll offset relative to the first row, in pixels; negative while the first row is below the top.
   */
  onScroll: (distance: number) => void;
}

export interface Virtual {
  /** `null` until its code is loaded. */
  virtual: Virtualizer<Scroller, HTMLElement> | null;
  /** The rows to render. */
  items: readonly (Pick<VirtualItem, "index" | "key" | "start"> & { size?: number })[];
  /** Indexes of the first and the last visible row. */
  range: { startIndex: number; endIndex: number };
  /** Height of all rows in pixels. */
  height: number;
  /** Pixels to subtract from each row's `start` to position it within the rows' parent. */
  margin: number;
  /** Scrolls to the first row if it is above the visible part. */
  toTop: () => void;
}

/**
 * A virtualizer for a list that scrolls in its own box or with the page. Renders when the visible rows change. The
 * options may depend on which of both scrolls. The first visible row stays in place when the height of rows changes.
 */
export function useVirtual(options: (isInPage: boolean) => Options, { box, rows, onScroll }: VirtualList): Virtual {
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const isPainted = useAfterPaint(true);
  const core = useLazy(CORE, isPainted || CORE.current() !== null);
  /** Index of the row at the top of the window, if all rows were there; negative while the list begins below it. */
  const [top, setTop] = useState<number | null>(null);
  const margin = useRef(0);
  const scroller = useRef<Scroller | null>(null);
  const scrolled = useRef(onScroll);
  scrolled.current = onScroll;
  /**
   * Whether a scroller still scrolls the list. If the style sheet has chosen the other one since the last render, the
   * offset of this one is 0: the next render moves the list, at the offset from before.
   */
  const isScroller = (scrollElement: Scroller): boolean => {
    if (box.current !== null && scrollerOf(box.current) === scrollElement) return true;
    redraw(undefined);
    return false;
  };
  const isInPage = scroller.current instanceof Window;
  const ofList = options(isInPage);
  const rowHeight = ofList.estimateSize(0);
  const complete: AllOptions = {
    getScrollElement: () => scroller.current,
    observeElementRect: ({ scrollElement }, onRect) =>
      scrollElement !== null && box.current !== null
        ? observeRect(scrollElement, box.current, (rect) => {
            onRect(rect);
            // The virtualizer reports only other rows, but the width decides how many lines a row takes.
            redraw(undefined);
          })
        : undefined,
    observeElementOffset: ({ scrollElement }, onOffset) =>
      scrollElement === null
        ? undefined
        : observeOffset(scrollElement, (offset, isScrolling) => {
            if (!isScroller(scrollElement)) return;
            onOffset(offset, isScrolling);
            scrolled.current(offset - margin.current);
          }),
    scrollToFn: scrollTo,
    // An open row that grows makes the page higher, which `place` observes: see `onResize`.
    useAnimationFrameWithResizeObserver: isInPage,
    ...ofList,
    scrollMargin: margin.current,
    onChange: () => redraw(undefined),
  };
  const made = useRef<Virtualizer<Scroller, HTMLElement> | null>(null);
  if (core !== null) made.current ??= new core.Virtualizer(complete);
  const virtual = made.current;
  virtual?.setOptions(complete);

  /** Height of a closed row at the last render, and the first visible row; none while the list is at its top. */
  const read = useRef<{ rowHeight: number; first: number | undefined } | null>(null);

  /** Updates the margin after a change of height above the list, and keeps the visible rows in place. */
  const place = (): void => {
    const scrollElement = virtual?.scrollElement ?? null;
    if (virtual === null || scrollElement === null || rows.current === null || !isScroller(scrollElement)) return;
    const now = marginOf(scrollElement, rows.current);
    const moved = now - margin.current;
    if (moved === 0) return;
    const isReading = offsetOf(scrollElement) > margin.current;
    margin.current = now;
    if (isReading) {
      scrollElement.scrollBy(0, moved);
      virtual.scrollOffset = (virtual.scrollOffset ?? 0) + moved;
    }
    redraw(undefined);
  };
  useLayoutEffect(() => {
    // Before the virtualizer scrolls the page itself.
    if (box.current !== null && scrollerOf(box.current) instanceof Window) history.scrollRestoration = "manual";
  }, []);
  useEffect(() => {
    if (virtual !== null) return;
    const follow = (): void => {
      if (box.current === null || rows.current === null) return;
      const next = scrollerOf(box.current);
      const distance = offsetOf(next) - marginOf(next, rows.current);
      setTop(Math.floor(distance / rowHeight));
      scrolled.current(distance);
    };
    // Scroll events of the box do not bubble.
    document.addEventListener("scroll", follow, { capture: true, passive: true });
    return () => document.removeEventListener("scroll", follow, { capture: true });
  }, [virtual, rowHeight]);
  useLayoutEffect(() => virtual?._didMount(), [virtual]);
  useLayoutEffect(() => {
    if (virtual === null || box.current === null || rows.current === null) return;
    const next = scrollerOf(box.current);
    if (next !== scroller.current) begin(virtual, next, margin, rows.current);
    scroller.current = next;
    virtual._willUpdate();
    place();
    if (read.current !== null && read.current.rowHeight !== rowHeight) {
      virtual.measure();
      if (read.current.first !== undefined) virtual.scrollToIndex(read.current.first, { align: "start" });
    }
    const distance = (virtual.scrollOffset ?? 0) - margin.current;
    // The rows are measured with the margin of this render, which `place` may have changed.
    const first = distance > 0 ? virtual.getVirtualItemForOffset(distance + virtual.options.scrollMargin) : undefined;
    read.current = { rowHeight, first: first?.index };
  });
  useEffect(() => {
    if (virtual === null) return;
    // The height above the list changes independently, for example when a filter opens or the histogram appears.
    const observer = new ResizeObserver(place);
    observer.observe(document.body);
    const onResize = (): void => redraw(undefined);
    addEventListener("resize", onResize);
    return () => {
      observer.disconnect();
      removeEventListener("resize", onResize);
    };
  }, [virtual]);
  // A virtualizer without a scroller has no rows, which would remove the focused one.
  const hasBegun = virtual !== null && virtual.scrollElement !== null;
  const first = top ?? -Math.floor(ABOVE / rowHeight);
  const tops = virtual === null || !hasBegun || virtual.range === null ? topsOf(ofList) : [];
  const plain = {
    startIndex: Math.max(
      0,
      tops.findLastIndex((each) => each <= first * rowHeight),
    ),
    endIndex: Math.max(0, Math.min(ofList.count - 1, first + Math.floor(innerHeight / rowHeight))),
  };
  return {
    virtual,
    items: hasBegun ? virtual.getVirtualItems() : plainRows(ofList, plain, tops),
    range: (hasBegun ? virtual.range : null) ?? plain,
    height: virtual?.getTotalSize() ?? tops.at(-1) ?? 0,
    margin: margin.current,
    toTop() {
      const { current } = scroller;
      if (current !== null && offsetOf(current) > margin.current) current.scrollTo({ top: margin.current });
    },
  };
}

/** Tops of all rows, and the end of the last one, in pixels. */
function topsOf({ count, estimateSize }: Options): number[] {
  const tops = [0];
  for (let index = 0; index < count; index++) tops.push((tops[index] ?? 0) + estimateSize(index));
  return tops;
}

/**
 * The rows of a range at the positions at which a virtualizer places them, as long as no entry is open. Those beyond the range
 * would delay the first frame.
 */
function plainRows(
  { count, getItemKey, rangeExtractor }: Options,
  range: Virtual["range"],
  tops: readonly number[],
): Virtual["items"] {
  const indexes = rangeExtractor({ ...range, overscan: 0, count });
  return indexes.map((index) => ({ index, key: getItemKey(index), start: tops[index] ?? 0 }));
}

/** Moves to another scroller, at the same row if the list had one. */
function begin(
  virtual: Virtualizer<Scroller, HTMLElement>,
  next: Scroller,
  margin: { current: number },
  rows: HTMLElement,
): void {
  const distance = virtual.scrollElement === null ? 0 : (virtual.scrollOffset ?? 0) - margin.current;
  margin.current = marginOf(next, rows);
  virtual.scrollOffset = distance > 0 ? distance + margin.current : offsetOf(next);
  virtual.setOptions({ ...virtual.options, scrollMargin: margin.current });
}

/** Scrolls a box or the page. */
const scrollTo: AllOptions["scrollToFn"] = (offset, { adjustments = 0, behavior = "auto" }, { scrollElement }) =>
  scrollElement?.scrollTo({ top: offset + adjustments, behavior });
