import type { Queue } from "../transports/delivery.ts";
import type { Spool } from "./spool.ts";

/**
 * Milliseconds until a file whose resend failed is sent again. The pause doubles each time, so that a file which always
 * fails does not repeatedly delay the others.
 */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Attaches a spool to a queue: resends the spooled deliveries now and after each successful delivery, and spools
 * deliveries whose retries ran out.
 * @param attempt runs a function and reports what it throws
 * @returns a function that stops the resending
 */
export function attachSpool(spool: Spool, queue: Queue, attempt: (work: () => void) => void): () => void {
  let isStopped = false;
  /** Whether the deliveries of a file are in the queue. */
  let isBusy = false;
  /** Whether the spool may have files. */
  let isFilled = true;
  let keeps = 0;
  let pause = 0;
  let nextAt = 0;

  /** Resends one file at a time. */
  function resend(): void {
    if (isStopped || isBusy || !isFilled || Date.now() < nextAt) return;
    // Cleared before the claim, which may throw: an unreadable directory is reported once, and read again after a
    // write.
    isFilled = false;
    const claim = spool.claim();
    isFilled = isBusy = claim !== undefined;
    if (!claim) return;
    const before = keeps;
    let open = claim.deliveries.length;
    let isOver = true;
    const end = (): void => {
      isBusy = false;
      if (isOver) claim.remove();
      else claim.release();
      const isDone = isOver && keeps === before;
      pause = isDone ? 0 : Math.min(pause * 2 || FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      nextAt = Date.now() + pause;
      resend();
    };
    if (open === 0) end();
    for (const delivery of claim.deliveries) {
      queue.adopt(delivery).then((one) => {
        isOver &&= one;
        if (--open === 0) attempt(end);
      });
    }
  }

  queue.spool = {
    add(delivery) {
      let isKept = false;
      attempt(() => {
        isKept = spool.add(delivery);
        if (!isKept) throw new Error("The spool is full.");
        keeps++;
        isFilled = true;
      });
      return isKept;
    },
    delivered: () => attempt(resend),
  };
  attempt(resend);
  return () => {
    isStopped = true;
  };
}
