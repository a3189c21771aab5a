import { createHash } from "node:crypto";
import type { Entry } from "../logs/entry.ts";
import { RESET_EVERY_MS } from "./sandbox.ts";
import { CRASH, type Story, VISITS } from "./stories.ts";

/** Traces spread over the six hours: one every three minutes. */
const TRACES = 120;
const STEP_MS = RESET_EVERY_MS / TRACES;
/** The trace in which the shop crashes, an hour and a half before the end. */
const CRASH_AT = 90;
/** Visitors of the shop: each comes back every so often, under the same session. */
const SESSIONS = 16;

/** Hex characters of a trace id and of a span id (W3C Trace Context). */
const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;

/**
 * What a fresh sandbox holds: some hundred entries of the six hours before `now`, in order of time, with every level and
 * every type of every built-in category, linked by trace and session.
 */
export function demoEntries(now: number): Entry[] {
  const entries: Entry[] = [];
  for (let n = 0; n < TRACES; n++) {
    // SAFETY: the index is below the length of a list that is not empty.
    const story: Story = n === CRASH_AT ? CRASH : (VISITS[n % VISITS.length] as Story);
    const traceId = digest(`${now}:${n}`).slice(0, TRACE_ID_LENGTH);
    const session = `ses_${digest(`visitor ${n % SESSIONS}`).slice(0, 12)}`;
    let at = now - RESET_EVERY_MS + n * STEP_MS;
    story(n).forEach(([afterMs, level, category, type, message, data], step) => {
      at += afterMs;
      const spanId = digest(`${traceId}:${step}`).slice(0, SPAN_ID_LENGTH);
      const timestamp = new Date(at).toISOString();
      entries.push({ timestamp, level, category, type, message, session, traceId, spanId, data });
    });
  }
  return entries;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
