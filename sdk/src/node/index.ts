import { assemble } from "../logger.ts";
import type { LoggerOptions } from "../logger-options.ts";
import { check } from "../options.ts";
import { asError } from "../safe.ts";
import { withSettings } from "../settings.ts";
import { standardOutputs } from "../transports/outputs.ts";
import type { Logger } from "../types.ts";
import { attachSpool } from "./resend.ts";
import { guard } from "./shutdown.ts";
import { createSpool, type SpoolOptions } from "./spool.ts";

export type * from "../logger-options.ts";
export type * from "../types.ts";
export type { SpoolOptions } from "./spool.ts";

/** Default deadline of the flush at shutdown in milliseconds. Service managers kill a process after 10 s or more. */
const SHUTDOWN_MS = 3000;

/** Options of `createLogger` on Node and Bun. */
export type NodeLoggerOptions = LoggerOptions & {
  /**
   * Flushes on SIGTERM, SIGINT, uncaught errors and an empty event loop, for at most `timeoutMs` milliseconds. Uncaught
   * errors are also logged. `false` installs no listeners.
   * @default { timeoutMs: 3000 }
   */
  shutdown?: false | { timeoutMs?: number };
  /**
   * Stores deliveries on disk whose retries ran out or that were pending when the process ended. They are sent after
   * the next successful delivery, or at the next start. `false` drops them.
   * @default {}
   */
  spool?: false | SpoolOptions;
};

/**
 * Creates a logger for Node and Bun that loses no entries when the process ends.
 *
 * That holds for `process.exit()`, SIGTERM, SIGINT, uncaught errors and an empty event loop. No method of the logger
 * throws.
 * @throws TypeError for invalid options
 * @example
 * import { createLogger } from "taffrail/node";
 *
 * const logger = createLogger({
 *   apiUrl: "https://logs.example.com",
 *   projectId: "proj_...",
 *   shutdown: { timeoutMs: 5000 },
 *   spool: { dir: "/var/spool/shop" },
 * });
 * logger.error(new Error("Payment gateway timed out"));
 */
export function createLogger(options: NodeLoggerOptions = {}): Logger {
  const { shutdown: guarding = {}, spool: keeping = {}, ...rest } = withSettings(options);
  // A bundle for an edge runtime may run this module: its `process` has no events, and Node's modules are stubs.
  const isProcess = typeof process === "object" && typeof process.on === "function";
  const shutdown = isProcess && guarding;
  const spooling = isProcess && keeping;
  const { timeoutMs = SHUTDOWN_MS } = shutdown || {};
  check(Number.isFinite(timeoutMs) && timeoutMs >= 0, "shutdown.timeoutMs must be a number of milliseconds");
  /** Ids of the deliveries that were saved at the end of the process. */
  const saved = new Set<string>();
  let isOver = false;
  const { logger, queues, report } = assemble(
    rest,
    (...args) =>
      standardOutputs(...args).map((output) => ({
        ...output,
        write(line, severity, now) {
          output.write(line, severity, now);
          // A later exit listener logged this entry, and no asynchronous code runs after that.
          if (isOver) saveNew();
        },
      })),
    // Without a spool the entries would be lost, so the flush waits for the full default timeout.
    shutdown && spooling ? timeoutMs : undefined,
  );
  const { apiUrl, projectId } = rest;
  // Only deliveries to the service have ids by which the receiver recognizes a repetition.
  const [queue] = queues.filter(({ isRepeatable }) => isRepeatable);
  const spool = spooling && queue && apiUrl && projectId ? createSpool(apiUrl, projectId, spooling) : undefined;

  function attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      report(asError(error));
    }
  }

  function saveNew(): void {
    attempt(() => {
      if (!spool || !queue) return;
      const deliveries = queue.pending().filter(({ id }) => !saved.has(id));
      if (deliveries.length > 0 && !spool.save(deliveries)) throw new Error("The spool is full.");
      for (const { id } of deliveries) saved.add(id);
    });
  }

  const unguard =
    shutdown &&
    guard({
      timeoutMs,
      flush: () => logger.flush({ timeoutMs }),
      save(isExit) {
        isOver = isExit;
        saveNew();
      },
      uncaught: (error, origin) =>
        logger.category("system", "error").fatal(`Uncaught ${origin}: ${asError(error).message}`, { error }),
    });
  const stop = spool && queue && attachSpool(spool, queue, attempt);
  const { close } = logger;
  logger.close = async (limits) => {
    stop?.();
    const result = await close(limits);
    if (result.pending === 0 && unguard) unguard();
    return result;
  };
  return logger;
}
