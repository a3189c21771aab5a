import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/**
 * Marks an element that scrolls sideways with the sides on which content is hidden: `data-hidden="start end"`, for a style sheet that
 * fades those.
 */
export function useScrollEdges(host: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const mark = (): void => {
      const { scrollLeft, scrollWidth, clientWidth } = element;
      const sides = [scrollLeft > 1 ? "start" : "", scrollLeft < scrollWidth - clientWidth - 1 ? "end" : ""];
      element.dataset.hidden = sides.join(" ").trim();
    };
    const observer = new ResizeObserver(mark);
    observer.observe(element);
    element.addEventListener("scroll", mark, { passive: true });
    mark();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", mark);
    };
  }, []);
}
