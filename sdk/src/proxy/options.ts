import { check } from "../options.ts";
import { memoryLimit, type RateLimit } from "./limit.ts";

/** Default bytes of one request: as many as a browser can have in flight when its page closes (64 KiB). */
const MAX_BODY_BYTES = 65_536;
const MAX_ENTRIES = 500;
/** Default requests of one client IP in a minute: ten tabs that flush every five seconds. */
const PER_ADDRESS = 120;
/** Default requests of all clients in a minute. Bounds clients that forge addresses where no front proxy sets them. */
const IN_ALL = 6000;
const WINDOW_MS = 60_000;
/** Maximal number of client IPs that are counted at the same time. */
const MAX_ADDRESSES = 10_000;
/** Default timeout of a request to the service in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Where a proxy forwards entries, and which requests it accepts.
 *
 * A build (Next) evaluates routes without their environment, so `apiUrl`, `projectId` and `apiKey` may be `undefined`
 * at construction; then every request fails.
 */
export interface ProxyOptions {
  /** URL of the service, like `https://logs.example.com`. */
  apiUrl: string | undefined;
  /** Project that receives the entries. */
  projectId: string | undefined;
  /** An API key with the scope `logs:write`. It never leaves the server. */
  apiKey: string | undefined;
  /**
   * Origins that may send, like `https://shop.example`, or a function that decides.
   * @default the origins of the host that the request names
   */
  origins?: readonly string[] | ((origin: string, request: Request) => boolean);
  /**
   * Maximal bytes of a request body, 1 to 5,242,880.
   * @default 65536
   */
  maxBytes?: number;
  /**
   * Maximal entries of a request, 1 to 1,000.
   * @default 500
   */
  maxEntries?: number;
  /**
   * Members of `data` that are forwarded.
   * @default all members
   */
  dataFields?: readonly string[];
  /**
   * Requests per minute of one client IP and of all clients together, counted in this process; `false` for no limit. Or
   * a function that decides, for example by a store that several processes share. If it throws, the request passes.
   * @default { perAddress: 120, total: 6000 }
   */
  rateLimit?: { perAddress?: number; total?: number } | false | RateLimit;
  /**
   * Returns the client IP of a request.
   * @default `CF-Connecting-IP`, else the first address of `X-Forwarded-For`
   */
  clientAddress?: (request: Request) => string | undefined;
  /**
   * Called with errors between the proxy and the service, which browsers do not see.
   * @default reports the first error on the console
   */
  onError?: (error: Error) => void;
  /**
   * Milliseconds after which a request to the service has failed, 1 to 3,600,000.
   * @default 10000
   */
  timeout?: number;
  /**
   * Function that sends the requests to the service.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch;
}

export interface ProxySettings {
  /** Error message if options of the service are missing; empty otherwise. */
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

/** @throws TypeError for invalid options */
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
  // The scheme is not compared, because it differs behind a front proxy that terminates TLS.
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
