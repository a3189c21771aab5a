import { check } from "../options.ts";
import { memoryLimit, type RateLimit } from "./limit.ts";

/** Bytes of one request: more than a browser may have under way when its page closes (64 KiB). */
const MAX_BODY_BYTES = 65_536;
const MAX_ENTRIES = 500;
/** Requests of one address in a minute: ten tabs that flush every five seconds. */
const PER_ADDRESS = 120;
/** Requests of all addresses in a minute. An address can be made up where no front sets it; this bounds that. */
const IN_ALL = 6000;
const WINDOW_MS = 60_000;
/** Addresses that are counted at the same time. */
const MAX_ADDRESSES = 10_000;
/** Milliseconds until the service has not answered. */
const TIMEOUT_MS = 10_000;

/** Where a proxy passes entries on to, and what it lets pass. */
export interface ProxyOptions {
  /** The service. A build (Next) evaluates routes without their environment: what is `undefined` fails with the first request. */
  apiUrl: string | undefined;
  /** The project that gets the entries. */
  projectId: string | undefined;
  /** A key with the scope `logs:write`. It never leaves the server. */
  apiKey: string | undefined;
  /** Origins that may send, like `https://shop.example`. Default: only pages of the host that the request names. */
  origins?: readonly string[] | ((origin: string, request: Request) => boolean);
  /** Bytes of a request's body, 1 to 5 MiB, default 65,536. */
  maxBytes?: number;
  /** Entries of a request, 1 to 1,000, default 500. */
  maxEntries?: number;
  /** Members of `data` that are passed on, default all. */
  dataFields?: readonly string[];
  /**
   * Default: 120 requests a minute and address, and 6,000 of all together, counted in this process. `false` for none;
   * or what says whether a request may pass, by a store that all processes share. One that fails lets it pass.
   */
  rateLimit?: { perAddress?: number; total?: number } | false | RateLimit;
  /** The client's address. Default: `CF-Connecting-IP`, then the first of `X-Forwarded-For`. */
  clientAddress?: (request: Request) => string | undefined;
  /**
   * Gets what goes wrong between here and the service; browsers are not told. Default: the first failure is written to
   * the console.
   */
  onError?: (error: Error) => void;
  /** Milliseconds to wait for the service, default 10,000. */
  timeout?: number;
  /** In place of the global one. */
  fetch?: typeof fetch;
}

export interface ProxySettings {
  /** Why there is no service to send to; empty if there is one. */
  missing: string;
  url: string;
  apiKey: string;
  isAllowed(origin: string, request: Request): boolean;
  maxBytes: number;
  maxEntries: number;
  dataFields: ReadonlySet<string> | undefined;
  rateLimit: RateLimit;
  addressOf(request: Request): string | undefined;
  onError(error: Error): void;
  timeout: number;
  fetch: typeof fetch;
}

/** @throws TypeError for options that are wrong */
export function proxySettings(options: ProxyOptions): ProxySettings {
  const { apiUrl, projectId, apiKey, origins, maxBytes = MAX_BODY_BYTES, maxEntries = MAX_ENTRIES } = options;
  const { rateLimit = {}, dataFields, onError = tellFirst(), timeout = TIMEOUT_MS } = options;
  const missing = Object.entries({ apiUrl, projectId, apiKey }).flatMap(([name, value]) =>
    value === undefined ? name : [],
  );
  for (const [name, value = " "] of Object.entries({ apiUrl, projectId, apiKey })) {
    check(typeof value === "string" && value !== "", `${name} must be a string`);
  }
  check(apiUrl === undefined || /^https?:\/\/[^/]/.test(apiUrl), "apiUrl must be an http or https URL");
  check(whole(maxBytes, 1, 5 * 1024 * 1024), "maxBytes must be a whole number from 1 to 5242880");
  check(whole(maxEntries, 1, 1000), "maxEntries must be a whole number from 1 to 1000");
  check(whole(timeout, 1, 3_600_000), "timeout must be a whole number from 1 to 3600000");
  return {
    missing: missing.length > 0 ? `createProxy was given no ${missing.join(", no ")}` : "",
    url: `${`${apiUrl}`.replace(/\/+$/, "")}/logger/${encodeURIComponent(`${projectId}`)}/log`,
    apiKey: `${apiKey}`,
    isAllowed: originCheck(origins),
    maxBytes,
    maxEntries,
    dataFields: dataFields && new Set(dataFields),
    rateLimit: limitOf(rateLimit),
    addressOf: options.clientAddress ?? addressOf,
    onError,
    timeout,
    fetch: options.fetch ?? ((...request) => fetch(...request)),
  };
}

function tellFirst(): (error: Error) => void {
  let isTold = false;
  return (error) => {
    if (!isTold) console.warn("taffrail/proxy: entries of browsers do not reach the service:", error);
    isTold = true;
  };
}

function whole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function originCheck(origins: ProxyOptions["origins"]): ProxySettings["isAllowed"] {
  if (typeof origins === "function") return origins;
  if (origins) {
    for (const origin of origins) check(isOrigin(origin), `origins: ${String(origin)} is no origin`);
    return (origin) => origins.includes(origin);
  }
  // The scheme is left out: behind a front that ends TLS it differs.
  return (origin, request) => {
    const host = request.headers.get("host") ?? new URL(request.url).host;
    return isOrigin(origin) && new URL(origin).host === host;
  };
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}

function limitOf(limit: NonNullable<ProxyOptions["rateLimit"]>): RateLimit {
  if (limit === false) return () => true;
  if (typeof limit === "function") return limit;
  const { perAddress = PER_ADDRESS, total = IN_ALL } = limit;
  check(whole(perAddress, 1, 1e9) && whole(total, 1, 1e9), "rateLimit takes whole numbers from 1");
  return memoryLimit({ perAddress, total, windowMs: WINDOW_MS, maxAddresses: MAX_ADDRESSES, now: Date.now });
}

function addressOf({ headers }: Request): string | undefined {
  const forwarded = headers.get("x-forwarded-for")?.split(",")[0]?.trim();
  return headers.get("cf-connecting-ip") || forwarded || undefined;
}
