import type { RequestOptions } from "./request.ts";

/** A response with its whole body. */
export interface Exchange {
  response: Response;
  text: string;
}

/** A call of the API as `fetch` takes it. */
export interface Call {
  path: string;
  method: string;
  headers: Headers;
  /** JSON. */
  body: string | null;
}

export function callOf(path: string, options: RequestOptions): Call {
  const headers = new Headers({ Accept: "application/json" });
  if (options.token !== undefined) headers.set("Authorization", `Bearer ${options.token}`);
  if (options.workspaceId !== undefined) headers.set("X-Workspace-Id", options.workspaceId);
  if (options.idempotencyKey !== undefined) headers.set("Idempotency-Key", options.idempotencyKey);
  if (options.searchId !== undefined) headers.set("X-Search-Id", options.searchId);
  if (options.body !== undefined) headers.set("Content-Type", "application/json");
  return {
    path,
    method: options.method ?? (options.body === undefined ? "GET" : "POST"),
    headers,
    body: options.body === undefined ? null : JSON.stringify(options.body),
  };
}

/** Sends a call. */
export async function exchange(call: Call, { signal, keepalive }: RequestOptions): Promise<Exchange> {
  const { path, ...init } = call;
  const response = await fetch(path, {
    ...init,
    signal: signal ?? null,
    keepalive: keepalive ?? false,
    // The only cookie of the API belongs to a sign-in through a provider, and navigations carry that cookie.
    credentials: "same-origin",
    cache: "no-store",
  });
  return { response, text: await response.text() };
}
