/** What scrolls a list: its own box, or the page where the style sheet leaves that box without a scroll bar. */
export type Scroller = HTMLElement | Window;

/** Time after the last scroll event at which scrolling has ended, in milliseconds. */
const SCROLL_END = 150;

/** Returns what scrolls the box. The style sheet alone decides, so scripts and styles have no breakpoint to share. */
export function scrollerOf(box: HTMLElement): Scroller {
  return getComputedStyle(box).overflowY === "visible" ? window : box;
}

/** Returns how far a scroller is scrolled, in pixels. */
export function offsetOf(scroller: Scroller): number {
  return scroller instanceof Window ? scroller.scrollY : scroller.scrollTop;
}

/** Returns the pixels from the beginning of what scrolls to the first row: what stands above the list in the page. */
export function marginOf(scroller: Scroller, rows: HTMLElement): number {
  if (!(scroller instanceof Window)) return 0;
  return Math.round(rows.getBoundingClientRect().top + scroller.scrollY);
}

/** Reports the scroller's height and the list's width, which the page's margins make less than the window's. */
export function observeRect(
  scroller: Scroller,
  box: HTMLElement,
  onRect: (rect: { width: number; height: number }) => void,
): () => void {
  let last = { width: -1, height: -1 };
  const report = (): void => {
    const height = scroller instanceof Window ? scroller.innerHeight : scroller.clientHeight;
    const width = box.clientWidth;
    // In the page the box also gets higher with each row, which changes nothing here.
    if (width === last.width && height === last.height) return;
    last = { width, height };
    onRect(last);
  };
  report();
  const observer = new ResizeObserver(report);
  observer.observe(box);
  addEventListener("resize", report);
  return () => {
    observer.disconnect();
    removeEventListener("resize", report);
  };
}

/** Reports each step of scrolling, and its end. */
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
  // The list keeps the reader's place itself. After the way back the browser would return to where the page was
  // scrolled to before rows came above.
  const isPage = scroller instanceof Window;
  if (isPage) history.scrollRestoration = "manual";
  return () => {
    clearTimeout(timer);
    scroller.removeEventListener("scroll", onScroll);
    if (isPage) history.scrollRestoration = "auto";
  };
}
