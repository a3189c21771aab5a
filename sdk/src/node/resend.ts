import type { Queue } from "../transports/delivery.ts";
import type { Spool } from "./spool.ts";

/**
 * Milliseconds to the next try of what came back from one. It doubles each time: what never goes through must not hold
 * up the rest again and again.
 */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Sends what lies in the spool, now and after deliveries that succeed, and puts there what is out of retries.
 * @param attempt runs what may throw, and reports it
 * @returns how to take nothing more from the spool
 */
export function keepIn(spool: Spool, queue: Queue, attempt: (work: () => void) => void): () => void {
  let isStopped = false;
  /** A file is in the queue. */
  let isBusy = false;
  /** Something may lie in the spool. */
  let isFilled = true;
  let keeps = 0;
  let pause = 0;
  let nextAt = 0;

  /** A file at a time. */
  function resend(): void {
    if (isStopped || isBusy || !isFilled || Date.now() < nextAt) return;
    // A directory that cannot be read is reported once, and tried again when something was put there.
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
