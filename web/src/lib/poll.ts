import { useEffect, useRef } from "preact/hooks";

/** Calls again and again while the page can be seen, and at once when it can be seen again. */
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
