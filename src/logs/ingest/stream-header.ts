import { MAX_DROPPED } from "./client-drops.ts";

/**
 * `Taffrail-Stream`: the numbers of a request's entries in the stream of one client, and how many entries the client dropped so
 * far without sending them: `<name>;epoch=<ms>;first=<n>;count=<n>;queue-full=<n>;...`.
 */
export const STREAM_HEADER = "Taffrail-Stream";

/** Why the client library drops entries without a number: before it puts them in a request. */
export const UNNUMBERED_DROPS = ["queue-full", "closed"] as const;
/** Why it drops entries that have numbers. The numbers are missing then. */
export const NUMBERED_DROPS = ["retries", "too-large", "rejected"] as const;
export type DropReason = (typeof UNNUMBERED_DROPS)[number] | (typeof NUMBERED_DROPS)[number];

/** What a request says of its stream. */
export interface StreamReport {
  /** Random, of one process of the client. */
  stream: string;
  /** When the stream began by the client's clock, epoch milliseconds. */
  epoch: number;
  /** Number of the first entry, from 0. */
  first: number;
  /** Numbers that the request stands for, at least 1: its entries, and those that were refused before. */
  count: number;
  /** Entries dropped since the stream began. */
  drops: Partial<Record<DropReason, number>>;
}

/** Characters of a header that is read. */
const MAX_LENGTH = 512;
const NAME = /^[\w-]{8,64}$/;
const MEMBER = /^([a-z-]{1,20})=(\d{1,15})$/;
/** Numbers that a request can stand for: those of a body of lines, several times. */
const MAX_COUNT = 100_000;

/** Returns what a header says; `null` for any other text: a header that cannot be read refuses no entries. */
export function readStreamHeader(text: string | null): StreamReport | null {
  if (text === null || text.length > MAX_LENGTH) return null;
  const [stream = "", ...members] = text.split(";");
  if (!NAME.test(stream)) return null;
  const numbers = new Map<string, number>();
  for (const member of members) {
    const [, name = "", digits = ""] = MEMBER.exec(member.trim()) ?? [];
    if (name === "") return null;
    numbers.set(name, Number(digits));
  }
  const { epoch = -1, first = -1, count = 0, ...rest } = Object.fromEntries(numbers);
  if (epoch < 0 || first < 0 || count < 1 || count > MAX_COUNT) return null;
  const drops: StreamReport["drops"] = {};
  for (const reason of [...UNNUMBERED_DROPS, ...NUMBERED_DROPS]) {
    const entries = rest[reason];
    if (entries !== undefined && entries > 0) drops[reason] = Math.min(entries, MAX_DROPPED);
  }
  return { stream, epoch, first, count, drops };
}
