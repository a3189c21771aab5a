import { LEVELS } from "./levels.ts";
import type { BatchOptions, LoggerOptions, LogLevel, SamplingOptions } from "./types.ts";

/** The service's limits of one request. */
export const MAX_ENTRIES = 1000;
export const MAX_BODY_BYTES: number = 5 * 1024 * 1024;

/** Throws for what a caller wrote wrongly: at construction, so that no call ever has to. */
export function check(isGood: boolean, what: string): asserts isGood {
  if (!isGood) throw new TypeError(`taffrail: ${what}`);
}

function number(
  name: string,
  value: number | undefined,
  fallback: number,
  min: number,
  max: number,
  whole = true,
): number {
  if (value === undefined) return fallback;
  check(
    typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value)),
    `${name} must be ${whole ? "a whole number" : "a number"} from ${min} to ${max}, not ${String(value)}`,
  );
  return value;
}

export function severityOf(name: string, level: LogLevel | undefined): number {
  const severity = LEVELS.indexOf(level ?? "info");
  check(severity >= 0, `${name} must be one of ${LEVELS.join(", ")}, not ${String(level)}`);
  return severity;
}

/** Options of the queue with their defaults. */
export interface BatchSettings {
  size: number;
  flushInterval: number;
  maxRetries: number;
  wait(retry: number): number;
  maxQueueBytes: number;
  concurrency: number;
  timeout: number;
  gzip: boolean;
}

export function batchSettings(batch: BatchOptions = {}): BatchSettings {
  const { backoff = "exponential", gzip = true } = batch;
  const base = number("batch.backoffBase", batch.backoffBase, 1000, 0, 3_600_000);
  const steps = { exponential: (n: number) => 2 ** (n - 1), linear: (n: number) => n, fixed: () => 1 };
  check(
    typeof backoff === "function" || Object.hasOwn(steps, backoff),
    `batch.backoff must be exponential, linear, fixed or a function, not ${String(backoff)}`,
  );
  return {
    size: number("batch.size", batch.size, 50, 1, MAX_ENTRIES),
    flushInterval: number("batch.flushInterval", batch.flushInterval, 5000, 0, 3_600_000),
    maxRetries: number("batch.maxRetries", batch.maxRetries, 3, 0, 100),
    maxQueueBytes: number("batch.maxQueueBytes", batch.maxQueueBytes, MAX_BODY_BYTES, 1024, 2 ** 30),
    concurrency: number("batch.concurrency", batch.concurrency, 4, 1, 16),
    timeout: number("batch.timeout", batch.timeout, 10_000, 1, 3_600_000),
    gzip,
    wait(retry) {
      if (typeof backoff === "function") {
        const own = backoff(retry);
        return own >= 0 ? own : base;
      }
      // Jitter over the whole width of the step, above it: from zero up, three retries could be over within a second.
      return base * steps[backoff](retry) * (1 + Math.random());
    },
  };
}

/** Rates by severity. */
export function samplingRates({ rate, overrides = {} }: SamplingOptions = {}): number[] {
  const fallback = number("sampling.rate", rate, 1, 0, 1, false);
  for (const level of Object.keys(overrides)) {
    check(
      LEVELS.some((one) => one === level),
      `sampling.overrides has no level ${level}`,
    );
  }
  return LEVELS.map((level) => number(`sampling.overrides.${level}`, overrides[level], fallback, 0, 1, false));
}

/** The service's address and project, which its transports cannot do without. */
export function destination({ apiUrl, projectId }: LoggerOptions): { apiUrl: string; projectId: string } {
  check(typeof apiUrl === "string" && /^https?:\/\/[^/]/.test(apiUrl), "apiUrl must be an http or https URL");
  check(typeof projectId === "string" && projectId !== "", "projectId is required");
  return { apiUrl, projectId };
}

export function checkCommon(options: LoggerOptions): void {
  const { apiKey, categories, excludeCategories, beforeSend, onError, onDrop, sessionId, redact } = options;
  check(apiKey === undefined || typeof apiKey === "string", "apiKey must be a string");
  check(sessionId === undefined || (typeof sessionId === "string" && sessionId !== ""), "sessionId must be a string");
  for (const [name, list] of Object.entries({ categories, excludeCategories, redact })) {
    check(list === undefined || list === null || Array.isArray(list), `${name} must be a list`);
  }
  for (const [name, call] of Object.entries({ beforeSend, onError, onDrop })) {
    check(call === undefined || typeof call === "function", `${name} must be a function`);
  }
}
