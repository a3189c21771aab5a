import { type Call, callOf, type Exchange, exchange } from "./exchange.ts";
import type { RequestOptions } from "./request.ts";

/**
 * Calls that the page's first script began while the console's code was loading. Only a call that is the same in all parts
 * takes such a response, and each response is taken once.
 */

interface EarlyCall {
  key: string;
  /** Milliseconds after the start of the page. */
  at: number;
  exchange: Promise<Exchange>;
}

/** Milliseconds after which a response is too old to be taken: the page has shown something else first. */
const USABLE_MS = 30_000;

declare global {
  /** Set by the first script, which shares no module with the console. */
  var taffrailEarly: EarlyCall[] | undefined;
}

/** Sends a call for code that is not loaded yet. */
export function callEarly(path: string, options: RequestOptions): void {
  const call = callOf(path, options);
  const answer = exchange(call, options);
  // Who takes the call handles the failure.
  answer.catch(() => undefined);
  globalThis.taffrailEarly ??= [];
  globalThis.taffrailEarly.push({ key: keyOf(call), at: performance.now(), exchange: answer });
}

/** Takes the response to a call; `null` if it was not made early. */
export function takeEarly(call: Call): Promise<Exchange> | null {
  const { taffrailEarly: calls } = globalThis;
  if (calls === undefined) return null;
  const key = keyOf(call);
  const at = calls.findIndex((early) => early.key === key);
  const [taken] = at < 0 ? [] : calls.splice(at, 1);
  return taken === undefined || performance.now() - taken.at > USABLE_MS ? null : taken.exchange;
}

function keyOf({ headers, ...call }: Call): string {
  return JSON.stringify([call, [...headers]]);
}
