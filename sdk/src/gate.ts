import { LEVELS } from "./levels.ts";
import type { LogMethod } from "./types.ts";

export const noop: LogMethod = () => {};

/** The levels that some loggers let through. It changes at run time, and keeps no list of those loggers. */
export interface Gate {
  /** The lowest severity that is open; 7 for none. */
  lowest: number;
  /**
   * The prototype of the loggers. A closed level is a no-op here, so that a call of it costs nothing. A level that was
   * closed when a logger was made and is open now becomes the logger's own method at first use.
   */
  methods: object;
  set(lowest: number): void;
}

/** @param method makes a logger's method for a severity */
export function createGate(
  lowest: number,
  prototype: object,
  method: (logger: object, severity: number) => LogMethod,
): Gate {
  const methods: object = Object.create(prototype);
  const gate: Gate = {
    lowest,
    methods,
    set(lowest) {
      gate.lowest = lowest;
      LEVELS.forEach((level, severity) => {
        const isOpen = severity >= lowest;
        // Loggers have it themselves.
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
  gate.set(lowest);
  return gate;
}
