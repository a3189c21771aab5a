import type { ShortcutKey } from "../../ui/shortcuts/shortcut-keys.ts";
import { focusOn, focusOnceThere } from "../../ui/shortcuts/shortcuts.ts";
import type { ActionDialog } from "./actions/actions.tsx";
import type { Follow } from "./live/use-follow.ts";
import type { ExplorerState } from "./use-explorer.ts";

/** What the keys of the explorer do. @param onFields opens the fields where they have no column */
export function shortcutActs(
  { live, reload }: ExplorerState,
  follow: Follow,
  onFields: () => void,
  onDialog: (dialog: ActionDialog) => void,
): Record<ShortcutKey, () => void> {
  return {
    "/": () => void focusOn("search"),
    j: () => focusRow("ArrowDown"),
    k: () => focusRow("ArrowUp"),
    f: () => {
      if (focusOn("fields")) return;
      onFields();
      focusOnceThere("fields");
    },
    t: () => void focusOn("time"),
    h: () => focusOnceThere("histogram"),
    r: reload,
    l: follow.toggle,
    p: () => (live.tail.state === "paused" ? live.tail.resume() : live.tail.pause()),
    v: () => onDialog("views"),
    s: () => onDialog("share"),
    "?": () => onDialog("keys"),
  };
}

/** Focuses the list's row, or with the focus in the list lets the list handle the key. */
function focusRow(key: string): void {
  const row = document.querySelector<HTMLElement>('[data-row][tabindex="0"]');
  if (row === null) return;
  if (document.activeElement !== row) row.focus();
  else row.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
