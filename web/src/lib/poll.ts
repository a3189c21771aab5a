import { useEffect, useRef } from "preact/hooks";

/** Calls `tick` every `everyMs` while the page is visible, and immediately when the page becomes visible again. */
export function usePoll(tick: () => void, everyMs: number): void {
  const latest = useRef(tick);
  latest.current = tick;
  useEffect(() => {
    let timer: ReturnType<typeof setInterval> | undefined;
    const stop = (): void => clearInterval(timer);
    const begin = (): void => {
      stop();
      timer = setInterval(() => latest.current(), everyMs);
    };
    const turned = (): void => {
      stop();
      if (document.hidden) return;
      latest.current();
      begin();
    };
    if (!document.hidden) begin();
    document.addEventListener("visibilitychange", turned);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", turned);
    };
  }, [everyMs]);
}
