const TRACEPARENT = /^\s*(?!ff)[0-9a-f]{2}-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-[0-9a-f]{2}/;

/** The ids of a W3C `traceparent`; nothing for one that is malformed or all zeros. */
export function traceIds(traceparent: unknown): Ids | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(String(traceparent)) ?? [];
  return traceId && spanId ? { traceId, spanId } : undefined;
}

/** As `@opentelemetry/api` 1.x keeps them for all of its copies in a process: nothing is imported, so nothing must be installed. */
const OPENTELEMETRY: unique symbol = /* @__PURE__ */ Symbol.for("opentelemetry.js.api.1");
const SPAN: unique symbol = /* @__PURE__ */ Symbol.for("OpenTelemetry Context Key SPAN");

interface Ids {
  traceId: string;
  spanId: string;
}

interface OpenTelemetry {
  [OPENTELEMETRY]?: { context?: { active(): { getValue(key: symbol): { spanContext(): Ids } | undefined } } };
}

/** The ids of the OpenTelemetry span that is active; the same object for all of one span. Never throws. */
export function activeSpan(): Ids | undefined {
  try {
    // SAFETY: what is there is not trusted: whatever goes wrong, there is no span.
    const ids = (globalThis as OpenTelemetry)[OPENTELEMETRY]?.context?.active().getValue(SPAN)?.spanContext();
    // All zeros where no tracer is registered.
    if (ids && /[^0]/.test(ids.traceId)) return ids;
  } catch {}
  return undefined;
}

/** A number from 0 to 1 that is the same for the same text everywhere. Twice through, so that short texts mix too. */
export function unitHash(text: string): number {
  let hash = 1;
  for (const letter of text + text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1);
  return (hash >>> 0) / 2 ** 32;
}
