import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "taffrail.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

const theme = signal<Theme>(read());

/** Puts the chosen theme on the page; "system" leaves the choice to the browser. */
export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

/** Changes whenever the colours do: for what draws on a canvas, which style sheets do not reach. */
export const themeVersion = signal(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  themeVersion.value++;
});

export function ThemeChoice() {
  return (
    <label>
      <span class="visually-hidden">Theme</span>
      <select
        value={theme.value}
        onChange={(event) => {
          theme.value = THEMES.find((each) => each === event.currentTarget.value) ?? "system";
          localStorage.setItem(KEY, theme.value);
          applyTheme();
          themeVersion.value++;
        }}
      >
        <option value="system">System theme</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((each) => each === kept) ?? "system";
}
