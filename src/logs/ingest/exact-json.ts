/** Stands in a parsed value for an integer whose digits a number cannot hold. */
export class InexactInteger {}

/** What V8 hands a reviver beside key and value: the text a primitive was written as. */
interface ReviverContext {
  source?: string;
}

const INTEGER = /^-?\d+$/;

/**
 * `JSON.parse`, with `InexactInteger` in place of every integer that would lose digits: 12345678901234567890 would come
 * back as 12345678901234567000. Ten times slower than the plain parse, so it runs only where such a number may be.
 */
export function parseExactly(text: string): unknown {
  const revive = (_: string, value: unknown, { source = "" }: ReviverContext): unknown => {
    if (!mayBeInexact(value) || !INTEGER.test(source)) return value;
    return BigInt(source) === BigInt(value) ? value : new InexactInteger();
  };
  // SAFETY: the runtime passes the third argument (ECMAScript's JSON.parse source text access); the library's type lacks it.
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** Whether a parsed value may have been an integer with more digits than it has now. */
export function mayBeInexact(value: unknown): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
