import { signal } from "@preact/signals";
import { Button } from "./button.tsx";

export type Theme = "system" | "light" | "dark";

const KEY = "taffrail.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

const theme = signal<Theme>(read());

/** Applies the selected theme; "system" leaves the choice to the browser. */
export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

/** Increases when colours change, for canvas drawings, which style sheets do not reach. */
export const themeVersion = signal(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  themeVersion.value++;
});

const SIGNS: Record<Theme, string> = { system: "◐", light: "☀", dark: "☾" };

/** Cycles through the system's, light and dark theme with one button, because the header is narrow on a phone. */
export function ThemeChoice() {
  const name = `Theme: ${theme.value}`;
  return (
    <Button
      look="quiet"
      small
      aria-label={`${name}. Change`}
      title={name}
      onClick={() => {
        theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
        localStorage.setItem(KEY, theme.value);
        applyTheme();
        themeVersion.value++;
      }}
    >
      <span aria-hidden="true">{SIGNS[theme.value]}</span>
    </Button>
  );
}

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((each) => each === kept) ?? "system";
}
