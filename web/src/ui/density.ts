import { signal } from "@preact/signals";
import { keep } from "../lib/keep.ts";

export const DENSITIES = ["compact", "comfortable"] as const;
export type Density = (typeof DENSITIES)[number];

/** Heights of a closed row of the list in pixels, and of a date above one: `--row`, `--row-two` and `--row-day` of tokens.css. */
export const ROW_HEIGHTS: Record<Density, { one: number; two: number; day: number }> = {
  compact: { one: 24, two: 48, day: 24 },
  comfortable: { one: 32, two: 56, day: 32 },
};

const KEY = "taffrail.density";

export const density = signal<Density>(stored());

export function setDensity(next: Density): void {
  density.value = next;
  keep(KEY, next);
  applyDensity();
}

export function applyDensity(): void {
  document.documentElement.dataset.density = density.value;
}

/** Fingers need larger targets than a pointer, unless the user has chosen. */
function stored(): Density {
  const kept = localStorage.getItem(KEY);
  return (
    DENSITIES.find((each) => each === kept) ?? (matchMedia("(pointer: coarse)").matches ? "comfortable" : "compact")
  );
}
