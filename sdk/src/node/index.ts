import { assemble } from "../logger.ts";
import { check } from "../options.ts";
import { asError } from "../safe.ts";
import type { Delivery, Queue } from "../transports/delivery.ts";
import { standardOutputs } from "../transports/outputs.ts";
import type { Logger, LoggerOptions } from "../types.ts";
import { keepIn } from "./resend.ts";
import { guard } from "./shutdown.ts";
import { createSpool, type Spool, type SpoolOptions } from "./spool.ts";

export type * from "../types.ts";
export type { SpoolOptions } from "./spool.ts";

/** Milliseconds; service managers kill after 10 s or more. */
const SHUTDOWN_MS = 3000;

export type NodeLoggerOptions = LoggerOptions & {
  /** Flush on SIGTERM, SIGINT and uncaught errors, which are logged too, for `timeoutMs` (default 3,000) at most. */
  shutdown?: false | { timeoutMs?: number };
  /**
   * Keeps what is out of retries, or could not be sent before the process ended, on disk. It is sent after the next
   * delivery that succeeds, or at the next start.
   */
  spool?: false | SpoolOptions;
};

/**
 * `createLogger` for Node and Bun: nothing logged is lost when the process ends, by whatever of exit, signal, uncaught
 * error or having nothing left to do.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
export function createLogger(options: NodeLoggerOptions): Logger {
  const { shutdown = {}, spool: spooling = {}, ...rest } = options;
  const { timeoutMs = SHUTDOWN_MS } = shutdown || {};
  check(Number.isFinite(timeoutMs) && timeoutMs >= 0, "shutdown.timeoutMs must be a number of milliseconds");
  const { logger, queues, report } = assemble(rest, standardOutputs);
  const { apiUrl, projectId } = rest;
  // Only what goes to the service has ids that make a repetition harmless.
  const [queue] = queues.filter(({ isRepeatable }) => isRepeatable);
  const spool = spooling && queue && apiUrl && projectId ? createSpool(apiUrl, projectId, spooling) : undefined;

  function attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      report(asError(error));
    }
  }

  const unguard =
    shutdown &&
    guard({
      timeoutMs,
      flush: () => logger.flush({ timeoutMs }),
      save: () => attempt(() => spool && queue && save(spool, queue)),
      uncaught: (error, origin) =>
        logger.category("system", "error").fatal(`Uncaught ${origin}: ${asError(error).message}`, { error }),
    });
  const stop = spool && queue && keepIn(spool, queue, attempt);
  const { close } = logger;
  logger.close = async (limits) => {
    stop?.();
    const result = await close(limits);
    if (result.pending === 0 && unguard) unguard();
    return result;
  };
  return logger;
}

function save(spool: Spool, queue: Queue): void {
  const deliveries: Delivery[] = queue.pending();
  if (deliveries.length > 0 && !spool.save(deliveries)) throw new Error("The spool is full.");
}
