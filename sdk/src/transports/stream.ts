import type { DropReason } from "../logger-options.ts";

/**
 * Numbers the entries of a queue, so that the service finds those that never arrive. Ids of deliveries have the numbers, for
 * the spool keeps ids: a delivery has its numbers in the next process, too.
 */
export interface Stream {
  /** Returns the id of a delivery of the next entries. */
  take(count: number): string;
  /**
   * Returns the id of a part of a delivery, or of all of it with other bytes.
   * @param from entries before the part
   * @param to of its end; without it, the part has all further numbers
   */
  part(id: string, from?: number, to?: number): string;
  /** Counts entries for which no request stands. */
  drop(count: number, reason: DropReason): void;
  /** Returns the header of a delivery; `undefined` for ids of another form. */
  header(id: string): string | undefined;
}

/** Name, epoch, number of the first entry, how many numbers the delivery stands for, and what makes the id unique. */
const ID = /^([\w-]+\.\d+)\.(\d+)\.(\d+)\./;

export function createStream(): Stream {
  const drops: Partial<Record<DropReason, number>> = {};
  let name = "";
  let next = 0;
  let ids = 0;
  return {
    take(count) {
      // Made at first use, because some platforms have no randomness before the first request.
      name ||= `${crypto.randomUUID()}.${Date.now()}`;
      next += count;
      return `${name}.${next - count}.${count}.${ids++}`;
    },
    part(id, from = 0, to = 1 / 0) {
      const [, own, first, count] = ID.exec(id) ?? [];
      // Ids of an earlier version have no numbers.
      if (!own) return `${id}-${ids++}`;
      return `${own}.${Number(first) + from}.${Math.min(to, Number(count)) - from}.${ids++}x`;
    },
    drop(count, reason) {
      drops[reason] = (drops[reason] ?? 0) + count;
    },
    header(id) {
      const [, own, first, count] = ID.exec(id) ?? [];
      if (!own) return undefined;
      // Entries of another process are not of this stream.
      const dropped = own === name ? Object.entries(drops).map(([reason, entries]) => `;${reason}=${entries}`) : [];
      return `${own.replace(".", ";epoch=")};first=${first};count=${count}${dropped.join("")}`;
    },
  };
}
