import { LEVELS, type Level } from "../../model/types.ts";

/** Returns the more severe of two levels; `null`: none yet. */
export function moreSevere(a: Level | null, b: Level | null): Level | null {
  if (a === null || b === null) return a ?? b;
  return LEVELS.indexOf(a) >= LEVELS.indexOf(b) ? a : b;
}
