import { assemble } from "./logger.ts";
import { standardOutputs } from "./transports/outputs.ts";
import type { Logger, LoggerOptions } from "./types.ts";

export type * from "./types.ts";

/**
 * Makes a logger.
 * @throws TypeError for options that are wrong or missing; no method of the logger ever throws
 * @example const logger = createLogger({ apiUrl: "https://logs.example.com", projectId: "proj_...", service: "shop" });
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  return assemble(options, standardOutputs).logger;
}
