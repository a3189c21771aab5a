import { LEVELS } from "./levels.ts";
import type { BatchOptions, LoggerOptions, SamplingOptions } from "./types.ts";

/** The service's limits of one request. */
export const MAX_ENTRIES = 1000;
export const MAX_BODY_BYTES: number = 5 * 1024 * 1024;
const HOUR_MS = 3_600_000;

/** Throws for what a caller wrote wrongly: at construction, so that no call ever has to. */
export function check(isGood: unknown, what: string): asserts isGood {
  if (!isGood) throw new TypeError(`taffrail: ${what}`);
}

function range(name: string, value: unknown, fallback: number, min: number, max: number, isRate?: boolean): number {
  if (value === undefined) return fallback;
  check(
    typeof value === "number" && value >= min && value <= max && (isRate || Number.isInteger(value)),
    `${name} must be ${isRate ? "" : "a whole number "}from ${min} to ${max}`,
  );
  return value;
}

export function oneOf(name: string, value: string, names: readonly string[]): number {
  const index = names.indexOf(value);
  check(index >= 0, `${name} must be one of ${names.join(", ")}`);
  return index;
}

/** Options of the queue with their defaults. */
export interface BatchSettings {
  size: number;
  flushInterval: number;
  maxRetries: number;
  maxQueueBytes: number;
  concurrency: number;
  timeout: number;
  gzip: boolean;
  /** Milliseconds before a retry, by its number from 1. */
  wait(retry: number): number;
}

export function batchSettings(batch: BatchOptions = {}): BatchSettings {
  const { backoff = "exponential", gzip = true } = batch;
  const number = (name: keyof BatchOptions, fallback: number, min: number, max: number) =>
    range(`batch.${name}`, batch[name], fallback, min, max);
  const base = number("backoffBase", 1000, 0, HOUR_MS);
  const shape =
    typeof backoff === "function" ? -1 : oneOf("batch.backoff", backoff, ["fixed", "linear", "exponential"]);
  return {
    size: number("size", 50, 1, MAX_ENTRIES),
    flushInterval: number("flushInterval", 5000, 0, HOUR_MS),
    maxRetries: number("maxRetries", 3, 0, 100),
    maxQueueBytes: number("maxQueueBytes", MAX_BODY_BYTES, 1024, 2 ** 30),
    concurrency: number("concurrency", 4, 1, 16),
    timeout: number("timeout", 10_000, 1, HOUR_MS),
    gzip,
    wait(retry) {
      if (typeof backoff === "function") {
        const own = backoff(retry);
        return own >= 0 ? own : base;
      }
      // Jitter over the whole width of the step, above it: from zero up, three retries could be over within a second.
      return base * (shape > 1 ? 2 ** (retry - 1) : shape > 0 ? retry : 1) * (1 + Math.random());
    },
  };
}

/** Rates by severity. */
export function samplingRates({ rate, overrides = {} }: SamplingOptions = {}): number[] {
  for (const level of Object.keys(overrides)) oneOf("sampling.overrides", level, LEVELS);
  const fallback = range("sampling.rate", rate, 1, 0, 1, true);
  return LEVELS.map((level) => range("sampling.overrides", overrides[level], fallback, 0, 1, true));
}

/** The service's address and project, which its transports cannot do without. */
export function destination({ apiUrl, projectId }: LoggerOptions): { apiUrl: string; projectId: string } {
  check(/^https?:\/\/[^/]/.test(`${apiUrl}`) && apiUrl, "apiUrl must be an http or https URL");
  check(projectId && typeof projectId === "string", "projectId is required");
  return { apiUrl, projectId };
}

/** @param types what `typeof` gives for the option named; `object` stands for a list */
export function checkTypes(options: LoggerOptions): void {
  const types = {
    string: ["apiKey", "sessionId"],
    object: ["categories", "excludeCategories", "redact"],
    function: ["beforeSend", "onError", "onDrop"],
  } as const;
  for (const [type, names] of Object.entries(types)) {
    for (const name of names) {
      const value: unknown = options[name];
      check(
        value == null || (type === "object" ? Array.isArray(value) : typeof value === type),
        `${name} must be a ${type === "object" ? "list" : type}`,
      );
    }
  }
}
