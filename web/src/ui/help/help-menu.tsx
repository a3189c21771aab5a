import { BookOpen, Braces, CircleQuestionMark, Keyboard, Library } from "lucide";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Menu, type MenuItem } from "../menu.tsx";
import { useCommands } from "../palette/commands.ts";
import { lazyModule, useLazy } from "../use-lazy.ts";

const SHORTCUTS = lazyModule(() => import("./shortcuts-dialog.tsx"));

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

/** Shortcuts, documents and the API reference. */
export function HelpMenu() {
  const { route } = useLocation();
  const [showsKeys, setShowsKeys] = useState(false);
  const dialog = useLazy(SHORTCUTS, showsKeys, () => setShowsKeys(false));
  const showKeys = (): void => setShowsKeys(true);
  useCommands(() => [
    { label: "Keyboard shortcuts", group: "Help", words: "keys", run: showKeys },
    ...HELP_PAGES.map(({ label, path }) => ({ label, group: "Help", run: () => route(path) })),
  ]);
  return (
    <>
      <Menu
        label="Help"
        icon={CircleQuestionMark}
        iconOnly
        look="quiet"
        tooltipSide="right"
        items={[...helpLinks(route), { label: "Keyboard shortcuts", icon: Keyboard, onSelect: showKeys }]}
      />
      {dialog === null ? null : <dialog.ShortcutsDialog onClose={() => setShowsKeys(false)} />}
    </>
  );
}
