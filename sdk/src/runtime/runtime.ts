import type { LoggerOptions } from "../logger-options.ts";
import type { Stream } from "../transports/stream.ts";

/** A value that belongs to one task, also after its awaits. */
export interface ContextStore<T> {
  getStore(): T | undefined;
  run<R>(value: T, work: () => R): R;
}

/** Options that may come from the environment. */
export type Settings = Pick<
  LoggerOptions,
  "apiUrl" | "projectId" | "apiKey" | "service" | "version" | "environment" | "host"
>;

/** The functions that differ between platforms. `#runtime` in package.json selects the module. */
export interface Runtime {
  createContext<T>(): ContextStore<T>;
  /** Compresses outside of the main thread; `null` if the platform cannot. */
  gzip: ((body: Uint8Array) => Promise<Uint8Array>) | null;
  /** Whether console output is for humans instead of programs. */
  isPretty(): boolean;
  /** Escapes a text for the console, which may be a terminal: see `terminal.ts`. */
  visible(text: string, before?: string): string;
  /** Loads the module that interprets answers which do not accept all entries. Rejects if it cannot be loaded. */
  answers(): Promise<Pick<typeof import("../transports/answers.ts"), "outcomeOf">>;
  /** Numbers the entries of a queue. Browsers have none: the header would need the permission of a preflight. */
  createStream?: () => Stream;
  /** Reads options from the environment. */
  settings(): Settings;
  /** Calls `flush` when the event loop of the process is empty. @returns a function that removes the listener */
  onIdle(flush: () => void): () => void;
}
