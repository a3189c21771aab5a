import { signal } from "@preact/signals";
import { BookOpen, Braces, CircleQuestionMark, Keyboard, Library } from "lucide";
import { useLocation } from "preact-iso";
import { Menu, type MenuItem } from "./menu.tsx";
import type { Command } from "./palette/commands.ts";
import { lazyModule, useLazy } from "./use-lazy.ts";

const SHORTCUTS = lazyModule(() => import("./shortcuts/shortcuts-dialog.tsx"));

/** Pages that explain the service. */
const HELP_PAGES = [
  { label: "Query language", icon: Braces, path: "/docs/query-language.md" },
  { label: "Documents", icon: Library, path: "/docs/logs.md" },
  { label: "API reference", icon: BookOpen, path: "/docs" },
] as const;

/** Links to the pages that explain the service, as items of a menu. */
export function helpLinks(route: (path: string) => void): MenuItem[] {
  return HELP_PAGES.map(({ path, ...item }) => ({ ...item, onSelect: () => route(path) }));
}

/** Whether the list of keys is shown. The palette opens it, too, in windows of any width. */
const showsKeys = signal(false);

function showKeys(shown: boolean): void {
  showsKeys.value = shown;
}

/** Commands of the palette for the same. */
export function helpCommands(route: (path: string) => void): Command[] {
  return [
    ...HELP_PAGES.map(({ label, path }) => ({
      label,
      words: "docs documentation manual",
      group: "Help",
      run: () => route(path),
    })),
    { label: "Keyboard shortcuts", group: "Help", words: "keys", run: () => showKeys(true) },
  ];
}

/** Shortcuts, documents and the API reference. */
export function HelpMenu() {
  const { route } = useLocation();
  return (
    <Menu
      label="Help and documents"
      icon={CircleQuestionMark}
      iconOnly
      look="quiet"
      tooltipSide="right"
      items={[
        ...helpLinks(route),
        { label: "Keyboard shortcuts", icon: Keyboard, onSelect: () => showKeys(true), startsGroup: true },
      ]}
    />
  );
}

/** The list of keys while it is shown. Apart from the menu, which a phone has not. */
export function KeysDialog() {
  const dialog = useLazy(SHORTCUTS, showsKeys.value, () => showKeys(false));
  return dialog === null ? null : <dialog.ShortcutsDialog onClose={() => showKeys(false)} />;
}
