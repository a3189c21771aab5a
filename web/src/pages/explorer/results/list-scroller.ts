import { onResize } from "../../../ui/on-resize.ts";

/** The element that scrolls a list: its box, or the window if the style sheet gives the box no scroll bar. */
export type Scroller = HTMLElement | Window;

/** Milliseconds after the last scroll event at which scrolling has ended. */
const SCROLL_END = 150;

/** Returns the scroller of a box. Only the style sheet decides, so that scripts and styles share no breakpoint. */
export function scrollerOf(box: HTMLElement): Scroller {
  return getComputedStyle(box).overflowY === "visible" ? window : box;
}

/** Returns the scroll offset of a scroller in pixels. */
export function offsetOf(scroller: Scroller): number {
  return scroller instanceof Window ? scroller.scrollY : scroller.scrollTop;
}

/** Returns the pixels above the first row within the scroller: the page's content above the list. */
export function marginOf(scroller: Scroller, rows: HTMLElement): number {
  if (!(scroller instanceof Window)) return 0;
  return Math.round(rows.getBoundingClientRect().top + scroller.scrollY);
}

/** Reports the scroller's height and the list's width, which excludes the page's margins. */
export function observeRect(
  scroller: Scroller,
  box: HTMLElement,
  onRect: (rect: { width: number; height: number }) => void,
): () => void {
  let last = { width: -1, height: -1 };
  const report = (): void => {
    const height = scroller instanceof Window ? scroller.innerHeight : scroller.clientHeight;
    const width = box.clientWidth;
    // In the page the box grows with each row, which does not matter here.
    if (width === last.width && height === last.height) return;
    last = { width, height };
    onRect(last);
  };
  report();
  const end = onResize(box, report);
  addEventListener("resize", report);
  return () => {
    end();
    removeEventListener("resize", report);
  };
}

/** Reports each scroll step, and the end of scrolling. */
export function observeOffset(
  scroller: Scroller,
  onOffset: (offset: number, isScrolling: boolean) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onScroll = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => onOffset(offsetOf(scroller), false), SCROLL_END);
    onOffset(offsetOf(scroller), true);
  };
  scroller.addEventListener("scroll", onScroll, { passive: true });
  // The list keeps the reader's position. On navigation back, the browser would restore an offset from before rows were
  // added above.
  const isPage = scroller instanceof Window;
  if (isPage) history.scrollRestoration = "manual";
  return () => {
    clearTimeout(timer);
    scroller.removeEventListener("scroll", onScroll);
    if (isPage) history.scrollRestoration = "auto";
  };
}
