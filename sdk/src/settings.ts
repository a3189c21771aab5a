import { runtime } from "#runtime";
import type { LoggerOptions } from "./logger-options.ts";

/** Returns the options, with settings of the environment for those that are not set. */
export function withSettings<T extends LoggerOptions>(options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  // SAFETY: the settings are members of the options, and replace none that is set.
  return { ...runtime.settings(), ...Object.fromEntries(given) } as T;
}
