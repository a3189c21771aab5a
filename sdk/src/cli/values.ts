import { usage } from "./failure.ts";

/** Values of the given options, by name. */
export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** Parses a whole number from 1. @throws Failure that names the option */
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

/** Returns the value of an option that this command accepts only once. */
export function once(values: Values, name: string): string | null {
  const [first, second] = list(values, name);
  if (second !== undefined) throw usage(`--${name} can be given once here.`);
  return first ?? null;
}
