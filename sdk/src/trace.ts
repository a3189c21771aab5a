const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

/** The ids of a W3C `traceparent`; nothing for one that is malformed or all zeros. */
export function traceIds(traceparent: unknown): { traceId: string; spanId: string } | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(typeof traceparent === "string" ? traceparent.trim() : "") ?? [];
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId) || String(traceparent).startsWith("ff")) {
    return undefined;
  }
  return { traceId, spanId };
}

/** A number from 0 to 1 that is the same for the same text everywhere: FNV-1a with MurmurHash3's last mixing. */
export function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
