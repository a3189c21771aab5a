import type { LoggerOptions } from "./logger-options.ts";
import { NUMBERS, TYPES } from "./options.ts";

/*
 * Warns of unknown options, which would have no effect. `#names` in package.json selects this module or `unnamed.ts`.
 */

/** Unknown names that were reported. */
const warned = /* @__PURE__ */ new Set<string>();

/** The names of all options, except those in `TYPES`. A test compares them with the types. */
const OTHER_NAMES = "apiUrl projectId transport level sampling defaultMeta debug batch";
/** The names of all options in pages. */
const PAGE_NAMES =
  "url level service version environment captureErrors categories excludeCategories sampling defaultMeta sessionId beforeSend onError onDrop debug batch redact";

/** Checks the options of `createLogger`. */
export function checkNames(options: LoggerOptions): void {
  check("", options, OTHER_NAMES, TYPES);
  check("batch.", options.batch, "backoff gzip", NUMBERS);
  check("sampling.", options.sampling, "rate overrides");
}

/** Checks the options of `createLogger` in pages. */
export function checkPageNames(options: object): void {
  check("", options, PAGE_NAMES);
}

/**
 * Reports each unknown name once for all loggers.
 *
 * @param known names, separated by spaces
 * @param more an object whose member names are options too
 */
function check(parent: string, given: object | undefined, known: string, more: object = {}): void {
  const names = [...known.split(" "), ...Object.keys(more)];
  for (const name of Object.keys(given ?? {})) {
    const full = parent + name;
    if (names.includes(name) || warned.has(full)) continue;
    warned.add(full);
    console.warn(`taffrail: unknown option ${JSON.stringify(full)}; there are ${names.join(", ")}`);
  }
}
