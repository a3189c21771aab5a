import { useEffect, useState } from "preact/hooks";
import { onResize } from "./on-resize.ts";

/** Current width and height of an element in whole pixels; 0 until measured. */
export function useSize(host: { current: HTMLElement | null }): { width: number; height: number } {
  const [width, setWidth] = useState(0);
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const measure = (): void => {
      setWidth(Math.floor(element.clientWidth));
      setHeight(Math.floor(element.clientHeight));
    };
    measure();
    return onResize(element, measure);
  }, []);
  return { width, height };
}
