import type { LoggerOptions } from "../types.ts";

/** A value that follows one task through its awaits. */
export interface ContextStore<T> {
  getStore(): T | undefined;
  run<R>(value: T, work: () => R): R;
}

/** Options that may come from the environment. */
export type Settings = Pick<
  LoggerOptions,
  "apiUrl" | "projectId" | "apiKey" | "service" | "version" | "environment" | "host"
>;

/** What the platforms do differently; `#runtime` in package.json picks the module. */
export interface Runtime {
  createContext<T>(): ContextStore<T>;
  /** Gzip off the main thread, or null where the platform has none. */
  gzip: ((body: Uint8Array) => Promise<Uint8Array>) | null;
  /** Whether console output is for people. */
  isPretty(): boolean;
  /** A text for the console, which may be a terminal: see `terminal.ts`. */
  visible(text: string, before?: string): string;
  /** The module that reads answers which do not take all entries. Rejects where it cannot be loaded. */
  answers(): Promise<Pick<typeof import("../transports/answers.ts"), "outcomeOf">>;
  /** Options that the environment gives. */
  settings(): Settings;
  /** Calls back when the process has nothing left to do but could still do something. Returns how to stop that. */
  onIdle(flush: () => void): () => void;
}
