import { Dialog } from "../dialog.tsx";
import { GO_KEYS } from "./go-keys.ts";
import { ShortcutList } from "./shortcut-list.tsx";
import css from "./shortcuts.module.css";

/** All keyboard shortcuts, from any page. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <h3 tabIndex={-1} data-focus-first>
        Pages of a workspace
      </h3>
      <dl class={css.keys}>
        {Object.entries(GO_KEYS).map(([key, page]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{page}</dd>
          </div>
        ))}
      </dl>
      <h3>Logs</h3>
      <ShortcutList />
    </Dialog>
  );
}
