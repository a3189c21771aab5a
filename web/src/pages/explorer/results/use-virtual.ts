import { type PartialKeys, Virtualizer, type VirtualizerOptions } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { marginOf, observeOffset, observeRect, offsetOf, type Scroller, scrollerOf } from "./list-scroller.ts";

type AllOptions = VirtualizerOptions<Scroller, HTMLElement>;
type Options = Omit<
  PartialKeys<AllOptions, "observeElementRect" | "observeElementOffset" | "scrollToFn">,
  "getScrollElement" | "scrollMargin"
>;

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

interface Virtual {
  virtual: Virtualizer<Scroller, HTMLElement>;
  /** Pixels to subtract from each row's `start` to position it within the rows' parent. */
  margin: number;
  /** Scrolls to the first row if it is above the visible part. */
  toTop: () => void;
}

/**
 * A virtualizer for a list that scrolls in its own box or with the page. Renders when the visible rows change. The
 * options may depend on which of both scrolls.
 */
export function useVirtual(options: (isInPage: boolean) => Options, { box, rows, onScroll }: VirtualList): Virtual {
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const margin = useRef(0);
  const scroller = useRef<Scroller | null>(null);
  const scrolled = useRef(onScroll);
  scrolled.current = onScroll;
  const complete: AllOptions = {
    getScrollElement: () => scroller.current,
    observeElementRect: ({ scrollElement }, onRect) =>
      scrollElement !== null && box.current !== null ? observeRect(scrollElement, box.current, onRect) : undefined,
    observeElementOffset: ({ scrollElement }, onOffset) =>
      scrollElement === null
        ? undefined
        : observeOffset(scrollElement, (offset, isScrolling) => {
            onOffset(offset, isScrolling);
            scrolled.current(offset - margin.current);
          }),
    scrollToFn: scrollTo,
    ...options(scroller.current instanceof Window),
    scrollMargin: margin.current,
    onChange: () => redraw(undefined),
  };
  const [virtual] = useState(() => new Virtualizer(complete));
  virtual.setOptions(complete);

  /** Updates the margin after a change of height above the list, and keeps the visible rows in place. */
  const place = (): void => {
    const { scrollElement } = virtual;
    if (scrollElement === null || rows.current === null) return;
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
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => {
    if (box.current === null || rows.current === null) return;
    const next = scrollerOf(box.current);
    if (next !== scroller.current) begin(virtual, next, margin, rows.current);
    scroller.current = next;
    virtual._willUpdate();
    place();
  });
  useEffect(() => {
    // The height above the list changes independently, for example when a filter opens or the histogram appears.
    const observer = new ResizeObserver(place);
    observer.observe(document.body);
    const onResize = (): void => redraw(undefined);
    addEventListener("resize", onResize);
    return () => {
      observer.disconnect();
      removeEventListener("resize", onResize);
    };
  }, []);
  return {
    virtual,
    margin: margin.current,
    toTop() {
      const { scrollElement } = virtual;
      if (scrollElement !== null && offsetOf(scrollElement) > margin.current) {
        scrollElement.scrollTo({ top: margin.current });
      }
    },
  };
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
