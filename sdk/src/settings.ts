import { runtime } from "#runtime";
import type { LoggerOptions } from "./types.ts";

/** Options with what the environment gives in place of those that are not set. */
export function withSettings<T extends LoggerOptions>(options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  // SAFETY: settings are some of the options, and none that is set is replaced.
  return { ...runtime.settings(), ...Object.fromEntries(given) } as T;
}
