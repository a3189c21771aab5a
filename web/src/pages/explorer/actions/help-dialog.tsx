import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Dialog } from "../../../ui/dialog.tsx";
import { ShortcutList } from "../../../ui/shortcuts/shortcut-list.tsx";
import { Loading } from "../../../ui/states.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import type { View } from "../view/view.ts";

/** The query language, loaded when the dialog opens. */
const TOUR = lazyModule(() => import("./query-tour.tsx"));

interface HelpDialogProps {
  view: View;
  onClose: () => void;
}

/** Keyboard shortcuts and the query language, beside the logs. */
export function HelpDialog({ view, onClose }: HelpDialogProps) {
  const { path } = useLocation();
  const [hasFailed, setFailed] = useState(false);
  const tour = useLazy(TOUR, true, () => setFailed(true));
  return (
    <Dialog title="Help" onClose={onClose}>
      <h3 tabIndex={-1} data-focus-first>
        Query language
      </h3>
      {tour === null ? (
        hasFailed ? (
          <p>Could not be loaded.</p>
        ) : (
          <Loading />
        )
      ) : (
        <tour.QueryTour view={view} path={path} onClose={onClose} />
      )}
      <h3>Keyboard shortcuts</h3>
      <ShortcutList />
    </Dialog>
  );
}
