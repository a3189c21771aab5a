import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { z } from "zod";
import { isId } from "../ids.ts";
import type { AppEnv } from "./context.ts";
import type { ErrorCode } from "./errors.ts";
import { jsonBody, optionalJsonBody, validated } from "./json.ts";
import { finishAfterDisconnect } from "./outlive.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One route: what serves it and what documents it, in one place. */
export interface RouteSpec {
  method: Method;
  /** Hono pattern; parameters as `:projectId`. */
  path: string;
  /** Dotted name of the route's operation line, e.g. `project.create`. */
  operation: string;
  tag: string;
  summary: string;
  description?: string;
  security: "none" | "accessToken" | "apiKey" | "either" | "operatorToken";
  /** Validates the body. A route that reads its body itself leaves it out and sets `documentedBody`. */
  body?: z.ZodType;
  /** Media type to schema, for the OpenAPI document only. */
  documentedBody?: Readonly<Record<string, z.ZodType>>;
  query?: z.ZodType;
  /** For a route that reads its query itself: its parameters, for the OpenAPI document only. */
  documentedQuery?: z.ZodType;
  /** Request headers beyond the common ones, for the OpenAPI document: what each is for, or its schema. */
  headers?: Readonly<Record<string, string | z.ZodType>>;
  /** 101: the answer is a WebSocket. 302: it is a redirect. Neither has an envelope. */
  status: 101 | 200 | 201 | 302;
  /** Schema of `data` in the envelope. */
  response: z.ZodType;
  errors: readonly ErrorCode[];
}

type BodyOf<S extends RouteSpec> = S["body"] extends z.ZodType ? z.output<S["body"]> : undefined;
type QueryOf<S extends RouteSpec> = S["query"] extends z.ZodType ? z.output<S["query"]> : undefined;

export interface RouteInput<S extends RouteSpec> {
  body: BodyOf<S>;
  query: QueryOf<S>;
}

export type RouteHandler<S extends RouteSpec> = (
  c: Context<AppEnv>,
  input: RouteInput<S>,
) => Response | Promise<Response>;

/** The routes of one resource: a Hono app and the list that documents it. */
export interface Resource {
  readonly app: Hono<AppEnv>;
  readonly specs: readonly RouteSpec[];
  /** Registers a route. Guards run before the body is read, so a refusal never depends on the body. */
  route<const S extends RouteSpec>(
    spec: S,
    guards: readonly MiddlewareHandler<AppEnv>[],
    handler: RouteHandler<S>,
  ): void;
}

export function resource(): Resource {
  const app = new Hono<AppEnv>();
  const specs: RouteSpec[] = [];
  return {
    app,
    specs,
    route(spec, guards, handler) {
      specs.push(spec);
      const entry: MiddlewareHandler<AppEnv> = async (c, next) => {
        const requestId = c.get("requestId");
        c.set("route", { method: spec.method, pattern: spec.path, path: c.req.path, requestId });
        c.get("log").event = spec.operation;
        const projectId = c.req.param("projectId");
        // Only what is an id: a key that was put there by mistake must not get into the lines.
        if (projectId !== undefined && isId("proj", projectId)) c.get("log").projectId = projectId;
        await next();
      };
      const readBody = isOptional(spec) ? optionalJsonBody : jsonBody;
      app.on(spec.method, spec.path, entry, ...guards, async (c) => {
        const query = spec.query ? validated(spec.query, c.req.query(), "query") : undefined;
        const body = spec.body ? await finishAfterDisconnect(c, readBody(c.req.raw, spec.body)) : undefined;
        // SAFETY: `body` and `query` are the outputs of the schemas that `RouteInput` is inferred from.
        return handler(c, { body, query } as RouteInput<typeof spec>);
      });
    },
  };
}

/**
 * A body whose members all have a default, or need none, may be left out. Not that of a PUT: it replaces something, and
 * a client that has lost its body on the way must not replace it by nothing.
 */
export function isOptional({ method, body }: Pick<RouteSpec, "method" | "body">): boolean {
  return method !== "PUT" && body?.safeParse({}).success === true;
}
