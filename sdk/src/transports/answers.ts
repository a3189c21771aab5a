import type { Outcome } from "./delivery.ts";

/*
 * Interprets answers that do not accept all entries. Only the modules of `#runtime` import this module: in browsers it
 * is loaded with the first such answer.
 */

/** Outcomes by status. Other statuses are refusals, except 2xx and 5xx, which are retried. */
const KINDS: Readonly<Record<number, Outcome["kind"]>> = {
  408: "retry",
  409: "retry",
  413: "split",
  425: "retry",
  429: "pause",
};

/**
 * The options to check, by status. Not shared with `http.ts`, because bundlers would make a third file of shared code.
 */
const URL_NAME = "apiUrl (TAFFRAIL_URL)";
const KEY_NAME = "apiKey (TAFFRAIL_API_KEY)";
const HINTS: Readonly<Record<number, string>> = {
  401: KEY_NAME,
  403: KEY_NAME,
  404: `projectId (TAFFRAIL_PROJECT) and ${URL_NAME}`,
};

/** The members of an answer that are used. Any may be missing. */
export interface Answer {
  data?: { rejected?: unknown };
  error?: { code?: unknown; message?: unknown; details?: unknown };
}

/** Converts an answer to an outcome. @param gap milliseconds between the starts of deliveries */
export function outcomeOf(
  { status, ok, headers }: Response,
  { data, error }: Answer,
  count: number,
  gap: number,
  apiKey: string | undefined,
): Outcome {
  const rejected = indexes(ok ? data?.rejected : status === 400 && error?.details, count);
  const isForeign = status < 400 && !data;
  const reason = data ? `${rejected.length} entries refused` : (error?.message ?? "no reason given");
  const name = isForeign ? URL_NAME : HINTS[status];
  const hint = status === 401 && !apiKey ? `No ${name} is set` : `Check ${name}`;
  const failure = Object.assign(
    new Error(`The service answered ${status}: ${name ? `${reason}`.replace(/\.?$/, `. ${hint}.`) : reason}`),
    { status, code: error?.code },
  );
  // Other servers answer 200, too: a login page, or an application that answers every path.
  if (ok && data) return { kind: "delivered", rejected, gap, error: rejected.length > 0 ? failure : undefined };
  const kind = KINDS[status] ?? (ok || status >= 500 ? "retry" : "refused");
  return {
    kind,
    isAway: isForeign,
    rejected,
    wait: waitOf(headers, status === 429),
    newId: status === 409,
    error: failure,
  };
}

/** Returns the entries that an answer names by `index` or by a path like `logs.3.message`. */
function indexes(named: unknown, count: number): number[] {
  const found = (Array.isArray(named) ? named : []).map((one: { index?: unknown; path?: unknown } | null) =>
    Number(one?.index ?? /^(?:logs\b)?\W*(\d+)/.exec(`${one?.path}`)?.[1] ?? -1),
  );
  return [...new Set(found)].filter((index) => index >= 0 && index < count);
}

/**
 * Returns the milliseconds to wait by `Retry-After` (seconds or a date), else by `X-RateLimit-Reset` if the limit was
 * exceeded; 0 without either.
 */
function waitOf(headers: Headers, isLimited: boolean): number {
  // By the server's clock, because the local one may be wrong.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const after = headers.get("retry-after") ?? "";
  const reset = isLimited ? Number(headers.get("x-ratelimit-reset")) * 1000 - now : 0;
  const ms = Number(after) * 1000 || Date.parse(after) - now;
  return Math.max(ms >= 0 ? ms : reset, 0);
}
