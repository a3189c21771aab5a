/** Keyboard shortcuts of the explorer and their descriptions. */
export const SHORTCUTS = [
  { key: "/", does: "Focus search" },
  { key: "j", does: "Next entry" },
  { key: "k", does: "Previous entry" },
  { key: "f", does: "Find a field" },
  { key: "t", does: "Focus time range" },
  { key: "h", does: "Focus histogram" },
  { key: "r", does: "Refresh" },
  { key: "l", does: "Start or stop live" },
  { key: "p", does: "Pause or resume live" },
  { key: "v", does: "Saved views" },
  { key: "s", does: "Share" },
  { key: "?", does: "Help: query language and shortcuts" },
] as const;

export type ShortcutKey = (typeof SHORTCUTS)[number]["key"];
