import { signal } from "@preact/signals";
import { Monitor, Moon, Rows2, Rows4, Sun } from "lucide";
import { keep } from "../lib/keep.ts";
import { applyDensity, DENSITIES, type Density, density, setDensity } from "./density.ts";
import type { IconShape } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import type { Command } from "./palette/commands.ts";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "taffrail.theme";

const theme = signal<Theme>(read());

/** Applies the selected theme and density; "system" leaves the theme to the browser. */
export function applyAppearance(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  applyDensity();
}

export function isDark(): boolean {
  return theme.value === "system" ? PREFERS_DARK.matches : theme.value === "dark";
}

const PREFERS_DARK = matchMedia("(prefers-color-scheme: dark)");

/** Increases when colours change, for canvas drawings, which style sheets do not reach. */
export const themeVersion = signal(0);
PREFERS_DARK.addEventListener("change", () => {
  themeVersion.value++;
});

const THEME_ITEMS: Record<Theme, { label: string; icon: IconShape }> = {
  system: { label: "System theme", icon: Monitor },
  light: { label: "Light", icon: Sun },
  dark: { label: "Dark", icon: Moon },
};

const DENSITY_ITEMS: Record<Density, { label: string; icon: IconShape }> = {
  compact: { label: "Compact", icon: Rows4 },
  comfortable: { label: "Comfortable", icon: Rows2 },
};

/** The choices of theme and density. */
export function appearanceItems(): MenuItem[] {
  return [
    ...THEMES.map((each) => ({
      ...THEME_ITEMS[each],
      isChecked: theme.value === each,
      onSelect: () => setTheme(each),
    })),
    ...DENSITIES.map((each, at) => ({
      ...DENSITY_ITEMS[each],
      isChecked: density.value === each,
      startsGroup: at === 0,
      onSelect: () => setDensity(each),
    })),
  ];
}

/** Theme and density, kept in this browser. */
export function AppearanceMenu() {
  return (
    <Menu
      label="Appearance"
      icon={THEME_ITEMS[theme.value].icon}
      iconOnly
      look="quiet"
      placement="right-end"
      tooltipSide="right"
      items={appearanceItems()}
    />
  );
}

/** Commands of the palette for theme and density. */
export function appearanceCommands(): Command[] {
  return [
    ...THEMES.map((each) => ({ label: THEME_ITEMS[each].label, group: "Appearance", run: () => setTheme(each) })),
    ...DENSITIES.map((each) => ({
      label: DENSITY_ITEMS[each].label,
      group: "Appearance",
      run: () => setDensity(each),
    })),
  ];
}

function setTheme(next: Theme): void {
  theme.value = next;
  keep(KEY, next);
  applyAppearance();
  themeVersion.value++;
}

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((each) => each === kept) ?? "system";
}
