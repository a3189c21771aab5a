import { z } from "zod";

/** Digits that a safe integer can have. */
const DIGITS = /^\d{1,16}$/;

/** A whole number from `min` to `max` (0 or more) in a query string: decimal digits alone. Published as an integer. */
export function integerParameter(min: number, max: number) {
  const error = `Must be a whole number from ${min} to ${max}.`;
  return z
    .unknown()
    .transform((value, context): number => {
      const number = typeof value === "string" && DIGITS.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.addIssue(error);
      return z.NEVER;
    })
    .meta({ type: "integer", minimum: min, maximum: max });
}
