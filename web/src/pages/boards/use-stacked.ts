import { useEffect, useState } from "preact/hooks";

/** Windows in which panels are one below the other. The style sheet has the same width. */
const STACKED = matchMedia("(width < 800px)");

export function useStacked(): boolean {
  const [isStacked, setStacked] = useState(STACKED.matches);
  useEffect(() => {
    const update = (): void => setStacked(STACKED.matches);
    update();
    STACKED.addEventListener("change", update);
    return () => STACKED.removeEventListener("change", update);
  }, []);
  return isStacked;
}
