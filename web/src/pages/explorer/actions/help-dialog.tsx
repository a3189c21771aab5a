import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Dialog } from "../../../ui/dialog.tsx";
import { Loading } from "../../../ui/states.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import type { View } from "../view/view.ts";
import { SHORTCUTS } from "./shortcut-keys.ts";
import css from "./shortcuts.module.css";
import { setShortcutsOn, shortcutsOn } from "./shortcuts.ts";

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
      <dl class={css.keys}>
        {SHORTCUTS.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>←</kbd> <kbd>→</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>In the histogram: select a bar, zoom in. Shift selects several, “-” zooms out</dd>
        </div>
        <div>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>In the list: select an entry, open it; c shows its context, y copies it</dd>
        </div>
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>Commands</dd>
        </div>
      </dl>
      <label class={css.toggle}>
        <input
          type="checkbox"
          checked={shortcutsOn.value}
          onChange={({ currentTarget }) => setShortcutsOn(currentTarget.checked)}
        />
        Single-key shortcuts
      </label>
    </Dialog>
  );
}
