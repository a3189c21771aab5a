import type { BatchOptions, DropReason, SamplingOptions } from "../logger-options.ts";
import type { Category, LevelSetting, LogEntry } from "../types.ts";

/** Options of a page's logger. Like the options of `createLogger` in `taffrail`, unless stated otherwise. */
export interface BrowserLoggerOptions {
  /**
   * URL of the route with `taffrail/proxy` on the application's server, which holds the key. A page must not have a
   * key.
   */
  url: string;
  /**
   * The lowest level that is logged; `logger.level` changes it later.
   * @default "info"
   */
  level?: LevelSetting;
  /**
   * Name of the application, `service` in the `data` of every entry.
   * @default none
   */
  service?: string;
  /**
   * Version of the application, `version` in `data`.
   * @default none
   */
  version?: string;
  /**
   * Environment of the application, like `production`: `environment` in `data`.
   * @default none
   */
  environment?: string;
  /**
   * Whether uncaught errors and unhandled rejections are logged too, with level `error`, category `system` and type
   * `error`.
   * @default false
   */
  captureErrors?: boolean;
  /**
   * Categories that are logged; `null` for all.
   * @default null
   */
  categories?: readonly Category[] | null;
  /**
   * Categories that are not logged; `null` for none.
   * @default null
   */
  excludeCategories?: readonly Category[] | null;
  /**
   * Which share of the entries is sent. Decided once for the session, so that it is kept or left out as a whole.
   * @default { rate: 1 }
   */
  sampling?: SamplingOptions;
  /**
   * Fields of every entry.
   * @default {}
   */
  defaultMeta?: object;
  /**
   * Session of the entries.
   * @default a random id per tab, in `sessionStorage`
   */
  sessionId?: string;
  /**
   * Called with each redacted entry before it is queued. Returns the entry to send, which is redacted again, or `null`
   * to leave it out. If it throws, the entry is dropped.
   * @default none
   */
  beforeSend?: (entry: LogEntry) => LogEntry | null;
  /**
   * Called with each delivery error. Without it, the first error is reported on the console; without `onDrop`, the first
   * dropped entries if they come before any error.
   * @default none
   */
  onError?: (error: Error) => void;
  /**
   * Called with dropped entries, redacted, and the reason.
   * @default none
   */
  onDrop?: (entries: LogEntry[], reason: DropReason) => void;
  /**
   * Whether the library reports its errors and drops on the console.
   * @default false
   */
  debug?: boolean;
  /**
   * Delivery options. `maxQueueBytes` is 1,048,576 by default, because the queue is also stored in `localStorage`.
   * @default {}
   */
  batch?: Pick<BatchOptions, "size" | "flushInterval" | "maxRetries" | "backoff" | "backoffBase" | "maxQueueBytes">;
  /**
   * Additional member names whose values are masked, in any spelling.
   * @default []
   */
  redact?: readonly string[];
}
