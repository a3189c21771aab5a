import { assemble } from "../logger.ts";
import { check } from "../options.ts";
import { asError } from "../safe.ts";
import { withSettings } from "../settings.ts";
import { standardOutputs } from "../transports/outputs.ts";
import type { Logger, LoggerOptions } from "../types.ts";
import { keepIn } from "./resend.ts";
import { guard } from "./shutdown.ts";
import { createSpool, type SpoolOptions } from "./spool.ts";

export type * from "../types.ts";
export type { SpoolOptions } from "./spool.ts";

/** Milliseconds; service managers kill after 10 s or more. */
const SHUTDOWN_MS = 3000;

export type NodeLoggerOptions = LoggerOptions & {
  /**
   * Flush on SIGTERM, SIGINT and uncaught errors, which are logged too, and when nothing is left to do, for `timeoutMs`
   * milliseconds at most.
   * @default { timeoutMs: 3000 }
   */
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
export function createLogger(options: NodeLoggerOptions = {}): Logger {
  const { shutdown: guarding = {}, spool: keeping = {}, ...rest } = withSettings(options);
  // A bundle for an edge runtime may get here: its `process` has no events, and Node's modules are stubs.
  const isProcess = typeof process === "object" && typeof process.on === "function";
  const shutdown = isProcess && guarding;
  const spooling = isProcess && keeping;
  const { timeoutMs = SHUTDOWN_MS } = shutdown || {};
  check(Number.isFinite(timeoutMs) && timeoutMs >= 0, "shutdown.timeoutMs must be a number of milliseconds");
  /** What the process's last moments found in the queue, by id. */
  const saved = new Set<string>();
  let isOver = false;
  const { logger, queues, report } = assemble(
    rest,
    (...args) =>
      standardOutputs(...args).map((output) => ({
        ...output,
        write(line, severity, now) {
          output.write(line, severity, now);
          // Logged by an exit listener that comes after the one here: nothing asynchronous runs any more.
          if (isOver) saveNew();
        },
      })),
    // Without a spool what is given up is lost.
    shutdown && spooling ? timeoutMs : undefined,
  );
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
