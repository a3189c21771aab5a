import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { TrieRouter } from "hono/router/trie-router";
import { isFailedCall, isStorageFailure, storageFaultOf } from "../platform/failures.ts";
import { levelOfStatus, logEvent } from "../platform/log.ts";
import { type Settings, settingsOf } from "../settings.ts";
import { drainUnread } from "./body.ts";
import { type AppEnv, requestIdOf } from "./context.ts";
import { failure } from "./envelope.ts";
import { ApiError, BUSY, ERROR_STATUS, type Refusal, STORAGE_FAILS } from "./errors.ts";
import { corsHeaders, limitHeaders, preflightHeaders, securityHeaders } from "./headers.ts";
import type { Resource, RouteSpec } from "./resource.ts";

/**
 * Routes literal paths by a map and all others by one regular expression. Hono's regular expression alone cannot hold a
 * literal path next to a pattern that begins alike (`/logger/query`, `/logger/:projectId/log`). Its default then uses a
 * trie for every route, which costs 40 us a request.
 */
export class LiteralFirstRouter<T> implements Router<T> {
  readonly name = "LiteralFirstRouter";
  readonly #patterns = new RegExpRouter<T>();
  /** Contains every route. Queried once for each literal path, because its handlers never change. */
  readonly #all = new TrieRouter<T>();
  readonly #literals = new Map<string, Result<T> | null>();

  add(method: string, path: string, handler: T): void {
    this.#all.add(method, path, handler);
    if (/[:*]/.test(path)) this.#patterns.add(method, path, handler);
    else this.#literals.set(`${method} ${path}`, null);
  }

  match(method: string, path: string): Result<T> {
    const key = `${method} ${path}`;
    const known = this.#literals.get(key);
    if (known) return known;
    if (known === undefined) return this.#patterns.match(method, path);
    const result = this.#all.match(method, path);
    this.#literals.set(key, result);
    return result;
  }
}

export interface AppOptions {
  resources: readonly Resource[];
  /** Counts a request that no route serves and no fallback answers. */
  countUnrouted: (c: Context<AppEnv>) => Promise<void>;
  /** Serves documents and static files; `null` if there is none at the path. */
  fallback: (c: Context<AppEnv>) => Promise<Response | null>;
}

/**
 * Builds the application: every resource inside one pipeline of envelope, request id, CORS, limit headers and event.
 */
export function createApp({ resources, countUnrouted, fallback }: AppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ router: new LiteralFirstRouter() });
  const specs = resources.flatMap((resource) => resource.specs);
  const allows = methodTable(specs);
  const groupOf = pathGroups(specs);
  app.use("*", securityHeaders, pipeline(allows, foreignPaths(specs)));
  for (const { app: routes } of resources) app.route("/", routes);
  app.onError((error, c) => (c.get("answerFailure") ?? failure)(refusalOf(error, c), c.get("requestId")));
  app.notFound(async (c) => {
    const allowed = allows(c.req.path);
    const fields = c.get("log");
    if (allowed.length > 0) answerLikeOf(specs, c.req.path)?.(c);
    const answer = c.get("answerFailure") ?? failure;
    fields.event = allowed.length === 0 ? "router.not-found" : "router.method-not-allowed";
    fields.group = groupOf(c.req.path);
    if (allowed.length === 0 && (c.req.method === "GET" || c.req.method === "HEAD")) {
      const served = await fallback(c);
      if (served) {
        if (served.status !== 404) fields.event = "router.page";
        else fields.outcome = "NOT_FOUND";
        return served;
      }
    }
    // `OPTIONS` is never limited: a preflight has no credential, and browsers send it on their own.
    try {
      if (c.req.method !== "OPTIONS") await countUnrouted(c);
    } catch (error) {
      // Hono would pass this on to the pipeline, past the headers that every response has.
      if (!(error instanceof Error)) throw error;
      c.error = error;
      return answer(refusalOf(error, c), c.get("requestId"));
    }
    const refusal = unroutedRefusal(c, allowed);
    fields.outcome = refusal.code;
    return answer(refusal, c.get("requestId"));
  });
  return app;
}

function unroutedRefusal(c: Context<AppEnv>, allowed: readonly string[]): Refusal {
  if (allowed.length === 0) return { code: "NOT_FOUND", message: "Path not found." };
  const message = `${c.req.method} is not allowed. Allowed: ${allowed.join(", ")}.`;
  return { code: "METHOD_NOT_ALLOWED", message, headers: { Allow: allowed.join(", ") } };
}

function pipeline(allows: (path: string) => string[], isForeign: (path: string) => boolean): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const startedAt = Date.now();
    const requestId = requestIdOf(c.req.header("X-Request-Id"));
    // First the variables that the error handler needs.
    c.set("requestId", requestId);
    c.set("log", {});
    const settings = settingsOrFault(c.env, requestId);
    if (settings === null) return failure({ ...FAULT, headers: { "X-Request-Id": requestId } }, requestId);
    c.set("settings", settings);
    c.set("limit", null);
    const { path } = c.req;
    const origin = c.req.header("Origin");
    if (c.req.method === "OPTIONS") {
      const allow = allows(path);
      if (origin !== undefined && c.req.header("Access-Control-Request-Method") !== undefined) {
        const wanted = c.req.header("Access-Control-Request-Headers");
        const requested = { path, isForeign: isForeign(path) };
        const headers = { ...preflightHeaders(requested, origin, wanted, settings), "X-Request-Id": requestId };
        return new Response(null, { status: 204, headers });
      }
      if (allow.length > 0) {
        return new Response(null, { status: 204, headers: { Allow: allow.join(", "), "X-Request-Id": requestId } });
      }
    }
    await next();
    await drainUnread(c.req.raw);
    const response = c.res;
    const { headers } = response;
    headers.set("X-Request-Id", requestId);
    const limit = c.get("limit");
    if (limit) for (const [name, value] of Object.entries(limitHeaders(limit))) headers.set(name, value);
    if (origin !== undefined) {
      const cors = corsHeaders({ path, isForeign: isForeign(path) }, origin, settings);
      for (const [name, value] of Object.entries(cors)) headers.append(name, value);
    }
    const fields = c.get("log");
    if (fields.event === undefined) return;
    const { status } = response;
    // A refusal that is sent as a redirect is logged as a refusal.
    const refused = c.error && (c.error instanceof ApiError ? ERROR_STATUS[c.error.refusal.code] : 500);
    logEvent(settings.LOG_LEVEL, levelOfStatus(refused ?? status), {
      ...fields,
      event: String(fields.event),
      outcome: String(fields.outcome ?? "ok"),
      requestId,
      status,
      durationMs: Date.now() - startedAt,
    });
  };
}

/** Returns the public refusal of an error. An `ApiError` has one; any other error is a fault of the service. */
function refusalOf(error: Error, c: Context<AppEnv>): Refusal {
  const fields = c.get("log");
  if (error instanceof ApiError) {
    fields.outcome = error.refusal.code;
    if (isStorageFailure(error.cause)) fields.fault = storageFaultOf(error.cause);
    return error.refusal;
  }
  // Errors of D1. Those of objects are mapped by the call.
  if (isStorageFailure(error)) {
    fields.outcome = STORAGE_FAILS.code;
    fields.fault = storageFaultOf(error);
    return STORAGE_FAILS;
  }
  if (isFailedCall(error)) {
    fields.outcome = BUSY.code;
    return BUSY;
  }
  fields.event ??= "router.fault";
  fields.outcome = "INTERNAL_ERROR";
  fields.fault = faultOf(error);
  return FAULT;
}

const FAULT: Refusal = {
  code: "INTERNAL_ERROR",
  message: "The service has failed. Include the request id in a report.",
};

/** Returns the settings; `null` if they are invalid. Logs the names of the invalid ones, never their values. */
function settingsOrFault(env: object, requestId: string): Settings | null {
  try {
    return settingsOf(env);
  } catch (error) {
    const fault = error instanceof Error ? error.message : "";
    logEvent("error", "error", { event: "router.settings", outcome: "INTERNAL_ERROR", requestId, fault });
    return null;
  }
}

/** Returns where a fault happened. Not its message, which may contain a client's text. */
function faultOf(error: Error): string {
  const place = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at ")) ?? "";
  return `${error.name} ${place.trim()}`;
}

/** First segments of paths without an API route: pages, and the files that they load. */
const PAGE_GROUPS = ["", "app", "login", "pages", "playground", "w"] as const;

/**
 * Returns the path for the event of a request without a route: the first segment if the service has one like it, else
 * `other`. Never the path itself, because a client may have put a secret there by mistake.
 */
function pathGroups(specs: readonly RouteSpec[]): (path: string) => string {
  const known = new Set<string>([...PAGE_GROUPS, ...specs.map(({ path }) => firstSegment(path))]);
  return (path) => (known.has(firstSegment(path)) ? `/${firstSegment(path)}` : "other");
}

function firstSegment(path: string): string {
  return path.split("/", 2)[1] ?? "";
}

/** Returns the methods of a path by its pattern; includes HEAD if GET is one of them. */
function methodTable(specs: readonly RouteSpec[]): (path: string) => string[] {
  const table = specs.map((spec) => ({ method: spec.method, pattern: patternToRegExp(spec.path) }));
  return (path) => {
    const methods = new Set<string>();
    for (const { method, pattern } of table) {
      if (!pattern.test(path)) continue;
      methods.add(method);
      if (method === "GET") methods.add("HEAD");
    }
    return [...methods];
  };
}

/** Whether a path speaks the protocol of another client. */
function foreignPaths(specs: readonly RouteSpec[]): (path: string) => boolean {
  const patterns = specs.filter(({ isForeign }) => isForeign).map(({ path }) => patternToRegExp(path));
  return (path) => patterns.some((pattern) => pattern.test(path));
}

/** Returns what gives refusals the shape of a path's protocol. */
function answerLikeOf(specs: readonly RouteSpec[], path: string): RouteSpec["answerLike"] {
  return specs.find(({ answerLike, path: pattern }) => answerLike && patternToRegExp(pattern).test(path))?.answerLike;
}

/** Converts `/projects/:projectId` to an expression that matches one literal path. */
export function patternToRegExp(pattern: string): RegExp {
  const source = pattern
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("/");
  return new RegExp(`^${source}$`);
}
