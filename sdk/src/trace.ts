const TRACEPARENT = /^\s*(?!ff)[0-9a-f]{2}-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-[0-9a-f]{2}/;

/** Returns the ids of a W3C `traceparent`; `undefined` if it is malformed or all zeros. */
export function traceIds(traceparent: unknown): Ids | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(String(traceparent)) ?? [];
  return traceId && spanId ? { traceId, spanId } : undefined;
}

/** The global symbols of `@opentelemetry/api` 1.x. They are read without an import, so that the package is optional. */
const OPENTELEMETRY: unique symbol = /* @__PURE__ */ Symbol.for("opentelemetry.js.api.1");
const SPAN: unique symbol = /* @__PURE__ */ Symbol.for("OpenTelemetry Context Key SPAN");

interface Ids {
  traceId: string;
  spanId: string;
}

interface OpenTelemetry {
  [OPENTELEMETRY]?: { context?: { active(): { getValue(key: symbol): { spanContext(): Ids } | undefined } } };
}

/** Returns the ids of the active OpenTelemetry span, as the same object for the same span. Never throws. */
export function activeSpan(): Ids | undefined {
  try {
    // SAFETY: the global may be of another type; any error means that there is no span.
    const ids = (globalThis as OpenTelemetry)[OPENTELEMETRY]?.context?.active().getValue(SPAN)?.spanContext();
    // The ids are zeros if no tracer is registered.
    if (ids && /[^0]/.test(ids.traceId)) return ids;
  } catch {}
  return undefined;
}

/**
 * Hashes a text to a number from 0 to 1, equal on all platforms. Hashes it twice, so that short texts are mixed well.
 */
export function unitHash(text: string): number {
  let hash = 1;
  for (const letter of text + text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1);
  return (hash >>> 0) / 2 ** 32;
}
