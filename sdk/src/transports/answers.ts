import type { Outcome } from "./delivery.ts";

/*
 * What answers mean that do not take all entries. In browsers it is loaded with the first of them; nothing else imports it
 * but the modules of `#runtime`.
 */

/** What becomes of statuses besides 2xx and 5xx, which may pass; others refuse. */
const KINDS: Readonly<Record<number, Outcome["kind"]>> = {
  408: "retry",
  409: "retry",
  413: "split",
  425: "retry",
  429: "pause",
};

/** What to look at first. Imported from nowhere: of what two files share, bundlers make a third one. */
const URL_NAME = "apiUrl (TAFFRAIL_URL)";
const KEY_NAME = "apiKey (TAFFRAIL_API_KEY)";
const HINTS: Readonly<Record<number, string>> = {
  401: KEY_NAME,
  403: KEY_NAME,
  404: `projectId (TAFFRAIL_PROJECT) and ${URL_NAME}`,
};

/** What the service answers, as far as it is used; anything may be missing. */
export interface Answer {
  data?: { rejected?: unknown };
  error?: { code?: unknown; message?: unknown; details?: unknown };
}

/** @param gap milliseconds until the next delivery may start */
export function outcomeOf(
  { status, ok, headers }: Response,
  { data, error }: Answer,
  count: number,
  gap: number,
): Outcome {
  const rejected = indexes(ok ? data?.rejected : status === 400 && error?.details, count);
  const isForeign = status < 400 && !data;
  const told = data ? `${rejected.length} entries refused` : (error?.message ?? "no reason given");
  const hint = isForeign ? URL_NAME : HINTS[status];
  const failure = Object.assign(
    new Error(`The service answered ${status}: ${hint ? `${told}`.replace(/\.?$/, `. Check ${hint}.`) : told}`),
    {
      status,
      code: error?.code,
    },
  );
  // Other servers answer 200, too: a page to log in at, an application that has one for every path.
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

/** Entries named by `index`, or by a path like `logs.3.message`. */
function indexes(named: unknown, count: number): number[] {
  const found = (Array.isArray(named) ? named : []).map((one: { index?: unknown; path?: unknown } | null) =>
    Number(one?.index ?? /^(?:logs\b)?\W*(\d+)/.exec(`${one?.path}`)?.[1] ?? -1),
  );
  return [...new Set(found)].filter((index) => index >= 0 && index < count);
}

/**
 * Milliseconds to wait by `Retry-After` (seconds or a date), else by `X-RateLimit-Reset` where that is the reason;
 * 0 if neither says.
 */
function waitOf(headers: Headers, isLimited: boolean): number {
  // By the server's clock: this machine's may be off.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const after = headers.get("retry-after") ?? "";
  const reset = isLimited ? Number(headers.get("x-ratelimit-reset")) * 1000 - now : 0;
  const ms = Number(after) * 1000 || Date.parse(after) - now;
  return Math.max(ms >= 0 ? ms : reset, 0);
}
