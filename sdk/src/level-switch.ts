import { LEVELS } from "./levels.ts";
import type { LogMethod } from "./types.ts";

export const noop: LogMethod = () => {};

/** The enabled levels of a family of loggers. They change at run time, without a list of the loggers. */
export interface LevelSwitch {
  /** The lowest enabled severity; 7 if all levels are disabled. */
  lowest: number;
  /**
   * The prototype of the loggers. A disabled level is a no-op here, so that calls of it are free. If a level was
   * disabled when a logger was created and is enabled later, the logger gets its own method at first use.
   */
  methods: object;
  set(lowest: number): void;
}

/** @param method creates a logger's method for a severity */
export function createLevelSwitch(
  lowest: number,
  prototype: object,
  method: (logger: object, severity: number) => LogMethod,
): LevelSwitch {
  const methods: object = Object.create(prototype);
  const levels: LevelSwitch = {
    lowest,
    methods,
    set(lowest) {
      levels.lowest = lowest;
      LEVELS.forEach((level, severity) => {
        const isOpen = severity >= lowest;
        // Loggers have methods of their own for levels that were never disabled.
        if (isOpen && !Object.hasOwn(methods, level)) return;
        const own = function (this: object, value: unknown): void {
          Object.defineProperty(this, level, { value, configurable: true, enumerable: true, writable: true });
        };
        const first = function (this: object): LogMethod {
          const value = method(this, severity);
          own.call(this, value);
          return value;
        };
        const one = isOpen ? { get: first, set: own } : { value: noop, writable: true };
        Object.defineProperty(methods, level, { ...one, configurable: true });
      });
    },
  };
  levels.set(lowest);
  return levels;
}
