import { useCallback, useState } from "preact/hooks";
import { useLocation } from "preact-iso";

/** Parameter of the address with the id of the entry that was opened last. */
const OPEN = "open";

/** The open entry is in the address, so that a reload and a link open it. It adds no history entry. */
export function useOpenEntry(): { initial: string | undefined; put: (id: string | null) => void } {
  const { query, route } = useLocation();
  const [initial] = useState(query[OPEN]);
  const put = useCallback((id: string | null) => {
    const params = new URLSearchParams(location.search);
    if (params.get(OPEN) === id) return;
    if (id === null) params.delete(OPEN);
    else params.set(OPEN, id);
    route(`${location.pathname}${params.size > 0 ? `?${params}` : ""}`, true);
  }, []);
  return { initial, put };
}
