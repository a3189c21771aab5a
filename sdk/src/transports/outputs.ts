import { LEVELS } from "../levels.ts";
import { MAX_BODY_BYTES, MAX_ENTRIES, MEMORY_ENTRIES } from "../limits.ts";
import type { LoggerOptions, Transport } from "../logger-options.ts";
import { type BatchSettings, check, destination } from "../options.ts";
import { decodeText } from "../safe.ts";
import type { LogEntry } from "../types.ts";
import { writeToConsole } from "./console.ts";
import type { Deliver, Queue, QueueEvents, QueueOptions } from "./delivery.ts";
import { httpDelivery } from "./http.ts";
import { linesOf } from "./lines.ts";
import { createQueue } from "./queue.ts";

/** Options of queues to the service, by its limits of one request. */
const QUEUE = { maxEntries: MAX_ENTRIES, maxBody: MAX_BODY_BYTES, isRepeatable: true };

/** The last step of the pipeline: one transport. */
export interface Output {
  /** Writes a line, which is only valid during the call. */
  write(line: Uint8Array, severity: number, now: number): void;
  /** @param isEnd see `flush` of `Queue` */
  flush?(timeoutMs: number, isEnd?: boolean): unknown;
  close?(): unknown;
  queue?: Queue;
}

/** Creates the outputs of a logger. Entry points pass different functions of this type. */
export type MakeOutputs = (
  options: LoggerOptions,
  settings: BatchSettings,
  events: QueueEvents,
  entries: LogEntry[],
) => Output[];

export const standardOutputs: MakeOutputs = (options, settings, events, entries) => {
  const { transport = "batch", apiKey } = options;
  return [transport].flat().map((one): Output => {
    switch (one) {
      case "batch":
      case "http": {
        const single = one === "http" ? { size: 1, maxEntries: 1, flushInterval: 0 } : {};
        const deliver = httpDelivery({ ...destination(options), apiKey, ...settings });
        return queued({ ...settings, ...QUEUE, ...single }, deliver, events);
      }
      case "console":
        return immediate(writeToConsole);
      case "memory":
        return immediate((json) => {
          entries.push(JSON.parse(json));
          if (entries.length > MEMORY_ENTRIES) entries.shift();
        });
      default:
        return custom(one, settings, events);
    }
  });
};

/** Creates the output of a custom transport. */
export function custom(transport: Transport, settings: BatchSettings, events: QueueEvents): Output {
  const { write, send }: { write?: unknown; send?: unknown } = Object(transport);
  const close = () => transport.close?.();
  if (typeof write === "function") {
    return {
      ...immediate((json, severity) => write.call(transport, json, LEVELS[severity])),
      flush: () => transport.flush?.(),
      close,
    };
  }
  check(typeof send === "function", "transport needs send or write");
  const deliver: Deliver = async ({ body }) => {
    await send.call(
      transport,
      linesOf(body).map((line): LogEntry => JSON.parse(line)),
    );
    return { kind: "delivered" };
  };
  const output = queued(
    { ...settings, ...QUEUE, size: 1, flushInterval: 0, concurrency: 1, isRepeatable: false },
    deliver,
    events,
  );
  return {
    ...output,
    async flush(timeoutMs, isEnd) {
      await output.flush?.(timeoutMs, isEnd);
      await transport.flush?.();
    },
    close,
  };
}

function immediate(write: (json: string, severity: number) => void): Output {
  return { write: (line, severity) => write(decodeText(line.subarray(0, -1)), severity) };
}

export function queued(options: QueueOptions, deliver: Deliver, events: QueueEvents): Output {
  const queue = createQueue(options, deliver, events);
  return { write: queue.push, flush: queue.flush, queue };
}
