import { usage } from "./failure.ts";

/** Options as they were given, by name. */
export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** A number from 1. @throws Failure that names the option */
export function countOf(option: string, given: string | null): number | null {
  if (given === null) return null;
  if (!/^[1-9]\d{0,14}$/.test(given)) throw usage(`${option} ${given}: must be a number from 1.`);
  return Number(given);
}

export function text(values: Values, name: string): string | null {
  const value = values[name];
  return typeof value === "string" ? value : null;
}

export function list(values: Values, name: string): string[] {
  return [values[name] ?? []].flat().map(String);
}

/** The value of an option that may be repeated elsewhere. */
export function once(values: Values, name: string): string | null {
  const [first, second] = list(values, name);
  if (second !== undefined) throw usage(`--${name} can be given once here.`);
  return first ?? null;
}
