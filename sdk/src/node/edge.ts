import { createLogger as createPlain } from "../index.ts";
import type { Logger } from "../types.ts";
import type { NodeLoggerOptions } from "./index.ts";

export type * from "../logger-options.ts";
export type * from "../types.ts";
export type { NodeLoggerOptions } from "./index.ts";
export type { SpoolOptions } from "./spool.ts";

/**
 * Creates a logger for edge runtimes and Workers, under the name that Node's side of the application imports.
 *
 * A module that both sides share can therefore be bundled for both. These runtimes have no shutdown hooks and no disk,
 * so `shutdown` and `spool` are ignored. No method of the logger throws.
 * @throws TypeError for invalid options
 * @example
 * import { createLogger } from "taffrail/node";
 *
 * export const logger = createLogger({ service: "shop" });
 */
export function createLogger({ shutdown: _shutdown, spool: _spool, ...options }: NodeLoggerOptions = {}): Logger {
  return createPlain(options);
}
