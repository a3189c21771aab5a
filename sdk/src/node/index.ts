import { assemble } from "../logger.ts";
import { check } from "../options.ts";
import { standardOutputs } from "../transports/outputs.ts";
import { asError, type Delivery, type Queue } from "../transports/queue.ts";
import type { Logger, LoggerOptions } from "../types.ts";
import { guard } from "./shutdown.ts";
import { createSpool, type Spool, type SpoolOptions } from "./spool.ts";

export type * from "../types.ts";
export type { SpoolOptions } from "./spool.ts";

/** Milliseconds; service managers kill after 10 s or more. */
const SHUTDOWN_MS = 3000;

export type NodeLoggerOptions = LoggerOptions & {
  /** Flush on SIGTERM, SIGINT and uncaught errors, which are logged too, for `timeoutMs` (default 3,000) at most. */
  shutdown?: false | { timeoutMs?: number };
  /** Keeps what could not be sent on disk and sends it at the next start. */
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
  if (spool && queue) attempt(() => resend(spool, queue, attempt));
  const { close } = logger;
  logger.close = async (limits) => {
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

/** Sends what earlier processes left, a file at a time. */
function resend(spool: Spool, queue: Queue, attempt: (work: () => void) => void): void {
  const claim = spool.claim();
  if (!claim) return;
  let open = claim.deliveries.length;
  let isOver = true;
  const settled = (one: boolean) =>
    attempt(() => {
      isOver &&= one;
      if (--open > 0) return;
      if (!isOver) return claim.release();
      claim.remove();
      resend(spool, queue, attempt);
    });
  if (open === 0) {
    claim.remove();
    resend(spool, queue, attempt);
  }
  for (const delivery of claim.deliveries) queue.adopt(delivery, settled);
}
