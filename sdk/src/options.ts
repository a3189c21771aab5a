import { LEVELS } from "./levels.ts";
import { HOUR_MS, MAX_BODY_BYTES, MAX_ENTRIES } from "./limits.ts";
import { checkNames } from "./names.ts";
import { attempt } from "./safe.ts";
import type { BatchOptions, LoggerOptions, SamplingOptions } from "./types.ts";

/** Throws for what a caller wrote wrongly: at construction, so that no call ever has to. */
export function check(isGood: unknown, what: string): asserts isGood {
  if (!isGood) throw new TypeError(`taffrail: ${what}`);
}

/** @param value a whole number, or any from 0 to 1 where that is its range */
function range(name: string, value: unknown, min: number, max: number): number {
  check(
    typeof value === "number" && value >= min && value <= max && (max < 2 || Number.isInteger(value)),
    `${name} must be ${max < 2 ? "" : "a whole number "}from ${min} to ${max}`,
  );
  return value;
}

export function oneOf(name: string, value: string, names: readonly string[]): number {
  const index = names.indexOf(value);
  check(index >= 0, `${name} must be one of ${names.join(", ")}`);
  return index;
}

interface Numbers {
  size: number;
  flushInterval: number;
  maxRetries: number;
  backoffBase: number;
  maxQueueBytes: number;
  concurrency: number;
  timeout: number;
}

/** Default, least and most of each. */
const NUMBERS: Readonly<Record<keyof Numbers, readonly [number, number, number]>> = {
  size: [50, 1, MAX_ENTRIES],
  flushInterval: [5000, 0, HOUR_MS],
  maxRetries: [3, 0, 100],
  backoffBase: [1000, 0, HOUR_MS],
  maxQueueBytes: [MAX_BODY_BYTES, 1024, 2 ** 30],
  concurrency: [4, 1, 16],
  timeout: [10_000, 1, HOUR_MS],
};

/** Options of the queue with their defaults. */
export interface BatchSettings extends Numbers {
  gzip: boolean;
  /** Milliseconds before a retry, by its number from 1. */
  wait(retry: number): number;
}

/** How many times the first wait, by the retry's number. */
const STEPS = {
  fixed: () => 1,
  linear: (retry: number) => retry,
  exponential: (retry: number) => 2 ** (retry - 1),
};

export function batchSettings(batch: BatchOptions = {}): BatchSettings {
  const { backoff = "exponential", gzip = true } = batch;
  if (typeof backoff !== "function") oneOf("batch.backoff", backoff, Object.keys(STEPS));
  const numbers: Partial<Numbers> = {};
  for (const [name, [fallback, min, max]] of Object.entries(NUMBERS)) {
    // SAFETY: the names are those of `NUMBERS`.
    const key = name as keyof Numbers;
    numbers[key] = range(`batch.${name}`, batch[key] ?? fallback, min, max);
  }
  // SAFETY: all of them are there now.
  const settings = numbers as Numbers;
  const { backoffBase } = settings;
  return {
    ...settings,
    gzip,
    wait(retry) {
      if (typeof backoff === "function") return Math.max(Number(attempt(() => backoff(retry))), 0) || backoffBase;
      // Jitter over the whole width of the step, above it: from zero up, three retries could be over within a second.
      return backoffBase * STEPS[backoff](retry) * (1 + Math.random());
    },
  };
}

/** Rates by severity. */
export function samplingRates({ rate = 1, overrides = {} }: SamplingOptions = {}): number[] {
  for (const level of Object.keys(overrides)) oneOf("sampling.overrides", level, LEVELS);
  return LEVELS.map((level) => range("sampling", overrides[level] ?? rate, 0, 1));
}

/** The service's address and project, which its transports cannot do without. */
export function destination({ apiUrl, projectId, apiKey }: LoggerOptions): { apiUrl: string; projectId: string } {
  if (!apiUrl || !projectId) {
    const needed = {
      "apiUrl (TAFFRAIL_URL)": apiUrl,
      "projectId (TAFFRAIL_PROJECT)": projectId,
      "apiKey (TAFFRAIL_API_KEY)": apiKey,
    };
    const missing = Object.entries(needed).filter(([, value]) => !value);
    throw new TypeError(`taffrail: missing ${missing.map(([name]) => name).join(", ")}`);
  }
  check(/^https?:\/\/[^/]/.test(apiUrl), "apiUrl must be an http(s) URL");
  check(typeof projectId === "string", "projectId must be a string");
  return { apiUrl, projectId };
}

const TYPES = {
  string: ["apiKey", "sessionId", "service", "version", "environment", "host"],
  list: ["categories", "excludeCategories", "redact"],
  function: ["beforeSend", "onError", "onDrop"],
} as const;

/** The names of all options, apart from those in `TYPES`; a test holds it against the types. */
export const OTHER_NAMES = "apiUrl projectId transport level sampling defaultMeta debug batch";
export function checkOptions(options: LoggerOptions): void {
  for (const [type, names] of Object.entries(TYPES)) {
    for (const name of names) {
      const value = options[name];
      check(value == null || (Array.isArray(value) ? "list" : typeof value) === type, `${name} must be a ${type}`);
    }
  }
  checkNames("", options, [...OTHER_NAMES.split(" "), ...Object.values(TYPES).flat()]);
  checkNames("batch.", options.batch, [...Object.keys(NUMBERS), "backoff", "gzip"]);
  checkNames("sampling.", options.sampling, ["rate", "overrides"]);
}
