import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { z } from "zod";
import { type AccessClaims, verifyAccessToken } from "../../../src/accounts/access-token.ts";
import { app } from "../../../src/routes/app.ts";
import { signedInShape } from "../../../src/routes/auth/sign-in.ts";
import { settingsOf } from "../../../src/settings.ts";

export const PASSWORD = "correct horse battery";

const envelope = z.object({
  success: z.boolean(),
  data: z.unknown(),
  error: z.object({ code: z.string(), message: z.string(), details: z.array(z.unknown()).optional() }).nullable(),
  meta: z.object({ timestamp: z.string(), requestId: z.string() }),
});

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  data: unknown;
  /** Error code, or `null` on success. */
  code: string | null;
  details: unknown[];
}

export interface Call {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Scheme and host, by default a public name. */
  origin?: string;
}

/** Sends one request through the worker as deployed. */
export async function call(path: string, options: Call = {}): Promise<Answer> {
  return answerOf(await exports.default.fetch(requestOf(path, options)));
}

/** Like `call`, with other settings or bindings. */
export function callWith(settings: object, path: string, options: Call = {}): Promise<Answer> {
  return callIn({ ...env, ...settings }, path, options);
}

/** Like `call`, in a whole environment, so that an isolate's caches serve several requests. */
export async function callIn(environment: typeof env, path: string, options: Call = {}): Promise<Answer> {
  const ctx = createExecutionContext();
  const response = await app.fetch(requestOf(path, options), environment, ctx);
  await waitOnExecutionContext(ctx);
  return answerOf(response);
}

export function requestOf(path: string, { method, body, headers, origin = "http://taffrail.test" }: Call): Request {
  const init = {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
  return new Request(`${origin}${path}`, init);
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const { data, error } = envelope.parse(JSON.parse(text));
  const { status, headers } = response;
  return { status, headers, text, data, code: error?.code ?? null, details: error?.details ?? [] };
}

export type SignedIn = z.output<typeof signedInShape>;

export function signedIn(answer: Answer): SignedIn {
  return signedInShape.strict().parse(answer.data);
}

/** Registers a unique address and returns the response. */
export async function registered(email: string, name?: string): Promise<SignedIn> {
  return signedIn(await call("/auth/register", { body: { email, password: PASSWORD, ...(name ? { name } : {}) } }));
}

export function login(email: string, password = PASSWORD): Promise<Answer> {
  return call("/auth/login", { body: { email, password } });
}

export function me(accessToken: string): Promise<Answer> {
  return call("/auth/me", { headers: bearer(accessToken) });
}

export function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}

export function userStub(userId: string) {
  return env.USERS.get(env.USERS.idFromName(userId));
}

export function workspaceStub(workspaceId: string) {
  return env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
}

export const settings = settingsOf(env);

export async function claimsOf(accessToken: string): Promise<AccessClaims> {
  const verdict = await verifyAccessToken(accessToken, settings, Date.now());
  if (!verdict.ok) throw new Error(verdict.code);
  return { userId: verdict.userId, sessionId: verdict.sessionId };
}

/** All tables of an object with their rows; empty for an object that never wrote anything. */
export function dump(sql: SqlStorage): Record<string, unknown[][]> {
  const names = sql.exec<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '_cf%' AND name NOT LIKE 'sqlite_%'",
  );
  const tables: Record<string, unknown[][]> = {};
  for (const { name } of names.toArray()) tables[name] = [...sql.exec(`SELECT * FROM "${name}"`).raw()];
  return tables;
}
