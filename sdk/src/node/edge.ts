import { createLogger as createPlain } from "../index.ts";
import type { Logger } from "../types.ts";
import type { NodeLoggerOptions } from "./index.ts";

export type * from "../types.ts";
export type { NodeLoggerOptions } from "./index.ts";
export type { SpoolOptions } from "./spool.ts";

/**
 * `taffrail/node` for edge runtimes and Workers, so that a module shared with Node's side of an application can be
 * bundled for them: neither a process that ends nor a disk exists there, and `shutdown` and `spool` are ignored.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
export function createLogger({ shutdown: _shutdown, spool: _spool, ...options }: NodeLoggerOptions = {}): Logger {
  return createPlain(options);
}
