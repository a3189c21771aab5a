import { assemble } from "./logger.ts";
import type { LoggerOptions } from "./logger-options.ts";
import { standardOutputs } from "./transports/outputs.ts";
import type { Logger } from "./types.ts";

export type * from "./logger-options.ts";
export type * from "./types.ts";

/**
 * Creates a logger for any runtime. No method of the logger throws.
 * @throws TypeError for invalid or missing options
 * @example
 * import { createLogger } from "taffrail";
 *
 * const logger = createLogger({ apiUrl: "https://logs.example.com", projectId: "proj_...", service: "shop" });
 * logger.info("Cart restored", { items: 3 });
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  return assemble(options, standardOutputs).logger;
}
