import { isSecure } from "../../http/loopback.ts";

/** Milliseconds that a provider gets for one answer, its body included. */
const PROVIDER_TIMEOUT_MS = 10_000;

/** Bytes of a provider's answer that are read at most; the largest honest one, a key set, is a few KB. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** GitHub refuses requests without one. */
const USER_AGENT = "taffrail";

/** Something about a provider's answer that makes it useless; the message is ours. */
export class ProviderFault extends Error {
  override name = "ProviderFault";
}

export interface ProviderRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | string | null | undefined;
}

/**
 * Every call to a provider: bounded in time and size, never redirected, and over a safe connection alone, as endpoints
 * also come from a discovery document. The answer is whole when this returns, so nothing that reads it can hang.
 */
export async function providerFetch(url: string, { method, headers, body }: ProviderRequest): Promise<Response> {
  if (!isSecure(new URL(url))) throw new ProviderFault("insecure endpoint");
  const response = await fetch(url, {
    method,
    headers: { ...headers, "User-Agent": USER_AGENT },
    body: body?.toString() ?? null,
    redirect: "manual",
    signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
  });
  const bytes = await readAll(response);
  const { status, headers: received } = response;
  return new Response(bytes.byteLength > 0 ? bytes : null, { status, headers: received });
}

async function readAll(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > ANSWER_MAX_BYTES) throw new ProviderFault("answer too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
