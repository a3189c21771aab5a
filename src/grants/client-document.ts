import { z } from "zod";
import type { Outbound } from "../platform/outbound.ts";
import { urlProblem } from "../platform/outbound-url.ts";
import { type AgentClient, CLIENT_BOUNDS, shownName } from "./client.ts";
import { checkRedirectUri } from "./registered-client.ts";

/** A client whose id is the URL of a document about it (OAuth Client ID Metadata Document). */

export const DOCUMENT_LIMITS = {
  /** Milliseconds of a fetch, from the connection to the last byte. */
  timeMs: 5_000,
  bytes: 16 * 1024,
  /** Seconds for which a document is kept: what its Cache-Control says within these bounds. */
  keptSeconds: { min: 60, usual: 300, max: 3600 },
  /** Documents that an isolate keeps. */
  kept: 200,
} as const;

const documentShape = z.looseObject({
  client_id: z.string(),
  client_name: z.string().max(500).optional(),
  redirect_uris: z.array(z.string().superRefine(checkRedirectUri)).min(1).max(CLIENT_BOUNDS.redirectUris),
  token_endpoint_auth_method: z.literal("none").optional(),
  grant_types: z.array(z.string()).max(20).optional(),
  client_secret: z.undefined().optional(),
});

export type DocumentOutcome = { ok: true; client: AgentClient } | { ok: false; message: string };

/** Whether a client id is a URL; `client_id` values of this kind are never registered ones. */
export function isDocumentId(id: string): boolean {
  return /^https?:\/\//.test(id);
}

/**
 * Returns what is wrong with the URL of a document, or `null`. The text must be the canonical spelling, because it is compared.
 * @param network `loopback`: also http to this machine, for tests
 */
export function documentUrlProblem(id: string, network: "public" | "loopback"): string | null {
  const problem = urlProblem(id, network);
  if (problem !== null) return problem;
  const url = new URL(id);
  if (url.href !== id) return "must be spelled in its canonical form";
  return url.pathname === "/" ? "must have a path" : null;
}

interface Kept {
  client: AgentClient;
  until: number;
}

/** Documents of this isolate. Failures are not kept. */
const kept = new Map<string, Kept>();

/** Returns the client of a URL if its document is kept. */
export function keptClient(id: string, now: number): AgentClient | null {
  const found = kept.get(id);
  return found !== undefined && found.until > now ? found.client : null;
}

/** Fetches a document and keeps it. Redirects are not followed. Throws nothing. */
export async function fetchClient(outbound: Outbound, id: string, now: number): Promise<DocumentOutcome> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), DOCUMENT_LIMITS.timeMs);
  try {
    const response = await outbound(id, {
      headers: { accept: "application/json", "user-agent": "Taffrail/1 (client metadata)" },
      redirect: "manual",
      signal: end.signal,
    });
    const text = await textOf(response, end.signal);
    if (typeof text !== "string") return text;
    const outcome = clientOf(id, text);
    if (outcome.ok) keep(outcome.client, lifetimeOf(response.headers.get("cache-control")), now);
    return outcome;
  } catch {
    // Messages of these errors are the runtime's, and differ between versions.
    return problem(end.signal.aborted ? "does not arrive within 5 seconds" : "cannot be fetched from a public address");
  } finally {
    clearTimeout(timer);
  }
}

function problem(what: string): Extract<DocumentOutcome, { ok: false }> {
  return { ok: false, message: `The metadata document of the client ${what}.` };
}

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i;

async function textOf(
  response: Response,
  signal: AbortSignal,
): Promise<string | Extract<DocumentOutcome, { ok: false }>> {
  const { status, headers, body } = response;
  const isJson = JSON_TYPE.test(headers.get("content-type") ?? "");
  if (status !== 200 || !isJson || body === null) {
    body?.cancel().catch(() => undefined);
    return problem(status === 200 ? "is not JSON" : `is answered with status ${status}`);
  }
  const reader = body.getReader();
  const aborted = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  for (;;) {
    const part = await Promise.race([reader.read(), aborted]);
    if (part === null) {
      // Not awaited: a host that never ends its body must not hold the request.
      reader.cancel().catch(() => undefined);
      return problem("does not arrive within 5 seconds");
    }
    if (part.done) return text + decoder.decode();
    read += part.value.length;
    if (read > DOCUMENT_LIMITS.bytes) {
      reader.cancel().catch(() => undefined);
      return problem(`has more than ${DOCUMENT_LIMITS.bytes} bytes`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
}

/** @param text of the document that was fetched from `id` */
export function clientOf(id: string, text: string): DocumentOutcome {
  const parsed = documentShape.safeParse(parsedJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const member = issue?.path.join(".") || "document";
    return problem(
      `is not valid: ${member} ${issue?.code === "custom" ? issue.message : "has another form."}`.replace(/\.$/, ""),
    );
  }
  const { client_id, client_name = "", redirect_uris, grant_types } = parsed.data;
  if (client_id !== id) return problem("names another client_id");
  if (grant_types !== undefined && !grant_types.includes("authorization_code")) {
    return problem("does not allow the grant type authorization_code");
  }
  const { host } = new URL(id);
  const client = {
    id,
    name: shownName(client_name) ?? host,
    host,
    redirectUris: redirect_uris,
  };
  return { ok: true, client };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lifetimeOf(cacheControl: string | null): number {
  const { min, usual, max } = DOCUMENT_LIMITS.keptSeconds;
  if (cacheControl !== null && /\bno-(?:store|cache)\b/i.test(cacheControl)) return min;
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl ?? "")?.[1];
  return seconds === undefined ? usual : Math.min(max, Math.max(min, Number(seconds)));
}

function keep(client: AgentClient, seconds: number, now: number): void {
  if (kept.size >= DOCUMENT_LIMITS.kept) kept.clear();
  kept.set(client.id, { client, until: now + seconds * 1000 });
}
