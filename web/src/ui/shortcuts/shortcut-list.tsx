import { SHORTCUTS } from "./shortcut-keys.ts";
import css from "./shortcuts.module.css";
import { setShortcutsOn, shortcutsOn } from "./shortcuts.ts";

/** Keys of the logs, and the switch of those that are a single letter. */
export function ShortcutList() {
  return (
    <>
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
    </>
  );
}
