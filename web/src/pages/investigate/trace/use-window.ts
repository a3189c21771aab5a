import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { onResize } from "../../../ui/on-resize.ts";

/** Rows drawn above and below the visible ones. */
const OVERSCAN = 10;

/**
 * Returns the first and the last row that is drawn of a box that scrolls rows of one height. The box has no more than its
 * rows and moves with the page if the page scrolls.
 */
export function useWindow(box: RefObject<HTMLElement | null>, height: number, count: number) {
  const [seen, setSeen] = useState({ first: 0, last: 60 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = (): void => {
      const { top, bottom } = element.getBoundingClientRect();
      // Of a box that is as high as its rows, only the part in the window.
      const above = element.scrollTop + Math.max(0, -top);
      const visible = Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0));
      const first = Math.max(0, Math.floor(above / height) - OVERSCAN);
      const last = Math.ceil((above + visible) / height) + OVERSCAN;
      setSeen((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    look();
    const end = onResize(element, look);
    element.addEventListener("scroll", look, { passive: true });
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      end();
      element.removeEventListener("scroll", look);
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [height, count]);
  return { first: seen.first, last: Math.min(seen.last, count - 1) };
}
