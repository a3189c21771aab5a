import { randomBase62 } from "../ids.ts";

/** Longest `X-Request-Id` that is echoed; longer or unprintable ones are replaced. */
const REQUEST_ID_MAX = 128;
const PRINTABLE_ASCII = /^[\x21-\x7e]+$/;

/** The caller's request id if it is sane, else a new one. */
export function requestIdOf(header: string | null | undefined): string {
  if (header && header.length <= REQUEST_ID_MAX && PRINTABLE_ASCII.test(header)) return header;
  return `req_${randomBase62(16)}`;
}
