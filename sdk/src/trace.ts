const TRACEPARENT = /^\s*(?!ff)[0-9a-f]{2}-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-[0-9a-f]{2}/;

/** The ids of a W3C `traceparent`; nothing for one that is malformed or all zeros. */
export function traceIds(traceparent: unknown): { traceId: string; spanId: string } | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(String(traceparent)) ?? [];
  return traceId && spanId ? { traceId, spanId } : undefined;
}

/** A number from 0 to 1 that is the same for the same text everywhere. Twice through, so that short texts mix too. */
export function unitHash(text: string): number {
  let hash = 1;
  for (const letter of text + text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1);
  return (hash >>> 0) / 2 ** 32;
}
