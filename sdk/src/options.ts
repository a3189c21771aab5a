import { LEVELS } from "./levels.ts";
import { HOUR_MS, MAX_BODY_BYTES, MAX_ENTRIES } from "./limits.ts";
import type { BatchOptions, LoggerOptions, SamplingOptions } from "./logger-options.ts";
import { attempt } from "./safe.ts";

/** Throws a `TypeError` for an invalid option. Used at construction only, so that no log call throws. */
export function check(isGood: unknown, what: string): asserts isGood {
  if (!isGood) throw new TypeError(`taffrail: ${what}`);
}

/** @param value a whole number, or any number if the range is 0 to 1 */
function range(name: string, value: unknown, min: number, max: number): number {
  const isRate = max < 2;
  check(
    typeof value === "number" && value >= min && value <= max && (isRate || Number.isInteger(value)),
    `${name} must be ${isRate ? "" : "a whole number "}from ${min} to ${max}`,
  );
  return value;
}

export function oneOf(name: string, value: unknown, names: readonly unknown[]): number {
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

/** The default, minimum and maximum of each option. */
export const NUMBERS: Readonly<Record<keyof Numbers, readonly [number, number, number]>> = {
  size: [50, 1, MAX_ENTRIES],
  flushInterval: [5000, 0, HOUR_MS],
  maxRetries: [3, 0, 100],
  backoffBase: [1000, 0, HOUR_MS],
  maxQueueBytes: [MAX_BODY_BYTES, 1024, 2 ** 30],
  concurrency: [4, 1, 16],
  timeout: [10_000, 1, HOUR_MS],
};

/** The batch options with their defaults. */
export interface BatchSettings extends Numbers {
  gzip: boolean;
  /** Returns the milliseconds before a retry. Retries are numbered from 1. */
  wait(retry: number): number;
}

/** Factors of the first wait by the number of the retry. */
const STEPS = {
  fixed: () => 1,
  linear: (retry: number) => retry,
  exponential: (retry: number) => 2 ** (retry - 1),
};

export function batchSettings(batch: BatchOptions = {}): BatchSettings {
  const { backoff = "exponential", gzip = true } = batch;
  if (typeof backoff !== "function") oneOf("batch.backoff", backoff, Object.keys(STEPS));
  // SAFETY: the entries of `NUMBERS` are all members of `Numbers`.
  const settings = Object.fromEntries(
    Object.entries(NUMBERS).map(([name, [fallback, min, max]]) => [
      name,
      range(`batch.${name}`, batch[name as keyof Numbers] ?? fallback, min, max),
    ]),
  ) as unknown as Numbers;
  const { backoffBase } = settings;
  return {
    ...settings,
    gzip,
    wait(retry) {
      if (typeof backoff === "function") return Math.max(Number(attempt(() => backoff(retry))), 0) || backoffBase;
      // Jitter is added to the step. If it replaced the step, three retries could end within a second.
      return backoffBase * STEPS[backoff](retry) * (1 + Math.random());
    },
  };
}

/** Returns the sampling rates by severity. */
export function samplingRates({ rate = 1, overrides = {} }: SamplingOptions = {}): number[] {
  for (const level of Object.keys(overrides)) oneOf("sampling.overrides", level, LEVELS);
  return LEVELS.map((level) => range("sampling", overrides[level] ?? rate, 0, 1));
}

/** Returns the URL of the service and the project. @throws TypeError if one is missing or invalid */
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

/** Types of the options that are neither numbers nor checked elsewhere. */
export const TYPES = {
  apiKey: "string",
  sessionId: "string",
  service: "string",
  version: "string",
  environment: "string",
  host: "string",
  categories: "list",
  excludeCategories: "list",
  redact: "list",
  beforeSend: "function",
  onError: "function",
  onDrop: "function",
} as const;

export function checkOptions(options: LoggerOptions): void {
  for (const [name, type] of Object.entries(TYPES)) {
    // SAFETY: `name` is a member of `TYPES`.
    const value = options[name as keyof typeof TYPES];
    check(value == null || (Array.isArray(value) ? "list" : typeof value) === type, `${name} must be a ${type}`);
  }
}
