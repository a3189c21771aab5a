import { isSecure } from "../../http/loopback.ts";

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

export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/** The calls of one exchange with a provider, which all end with its signal. */
export function providerFetch(signal: AbortSignal): ProviderFetch {
  return (url, request) => fetchWhole(url, request, signal);
}

/**
 * One call: bounded in time and size, never redirected, and over a safe connection alone, as endpoints also come from a
 * discovery document. The answer is whole when this returns, so nothing that reads it can hang.
 */
async function fetchWhole(
  url: string,
  { method, headers, body }: ProviderRequest,
  signal: AbortSignal,
): Promise<Response> {
  if (!isSecure(new URL(url))) throw new ProviderFault("insecure endpoint");
  const response = await fetch(url, {
    method,
    headers: { ...headers, "User-Agent": USER_AGENT },
    body: body?.toString() ?? null,
    redirect: "manual",
    signal,
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
