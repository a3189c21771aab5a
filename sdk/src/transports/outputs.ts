import { LEVELS } from "../levels.ts";
import { type BatchSettings, check, destination, MAX_BODY_BYTES, MAX_ENTRIES } from "../options.ts";
import { decodeText } from "../serialize.ts";
import type { LogEntry, LoggerOptions, LogLevel, Transport } from "../types.ts";
import { writeToConsole } from "./console.ts";
import { httpDelivery } from "./http.ts";
import { createQueue, type Deliver, type Queue, type QueueEvents, type QueueOptions } from "./queue.ts";

/** Entries that the transport `memory` keeps, the newest. */
const MEMORY_ENTRIES = 1000;
/** Room for one entry under the service's limit of a body. */
const QUEUE = { maxEntries: MAX_ENTRIES, maxBody: MAX_BODY_BYTES, isRepeatable: true };

/** Where the pipeline ends. */
export interface Output {
  /** The line is only lent. */
  write(line: Uint8Array, severity: number, now: number): void;
  flush?(): void | Promise<void>;
  close?(): void | Promise<void>;
  queue?: Queue;
}

/** Makes the outputs of `createLogger`; other entry points bring their own. */
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

/** A transport of the user's own. */
export function custom(transport: Transport, settings: BatchSettings, events: QueueEvents): Output {
  const rest = {
    flush: () => transport.flush?.(),
    close: () => transport.close?.(),
  };
  if ("write" in transport && typeof transport.write === "function") {
    return { ...immediate((json, level) => transport.write(json, level)), ...rest };
  }
  check(
    typeof transport === "object" && transport !== null && "send" in transport && typeof transport.send === "function",
    "transport must be batch, http, console, memory or an object with send(entries) or write(json)",
  );
  const deliver: Deliver = async ({ body }) => {
    await transport.send(
      decodeText(body)
        .trimEnd()
        .split("\n")
        .map((line): LogEntry => JSON.parse(line)),
    );
    return { kind: "delivered", rejected: [] };
  };
  return {
    ...queued(
      { ...settings, ...QUEUE, size: 1, flushInterval: 0, concurrency: 1, isRepeatable: false },
      deliver,
      events,
    ),
    ...rest,
  };
}

export function queued(options: QueueOptions, deliver: Deliver, events: QueueEvents): Output {
  const queue = createQueue(options, deliver, events);
  return { write: queue.push, queue };
}

function immediate(write: (json: string, level: LogLevel) => void): Output {
  return { write: (line, severity) => write(decodeText(line.subarray(0, -1)), LEVELS[severity] ?? "info") };
}
