import { CATEGORY_TYPES, LEVELS } from "../../src/logs/entry.ts";
import type { Random } from "./random.ts";

export interface Receipt {
  accepted: number;
  rejected: { index: number; code: string }[];
  rejectedCount: number;
  firstSeq: number;
  lastSeq: number;
  duplicate: boolean;
}

export interface SentEntry {
  message: string;
  level: string;
  category: string;
  type: string;
  /** Epoch milliseconds; `null` lets the service set it. */
  timestamp: number | null;
  data: { group: number; padding: string };
}

/** One request, and what is known about its outcome. */
export interface SentBatch {
  name: string;
  /** Its `Idempotency-Key`, or `null` for a client that sends none and therefore never repeats the request. */
  key: string | null;
  mediaType: string;
  body: string;
  /** Its valid entries. Every message is unique. */
  entries: SentEntry[];
  /** `null` until a response confirms that the batch is stored. */
  receipt: Receipt | null;
}

/** Texts in some messages, for queries to search. */
export const NEEDLE = "haystack";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The age of most old entries: far apart, so that their segments are cut. */
const OLD_MS = [3 * 60 * MINUTE_MS, 2 * DAY_MS, 20 * DAY_MS] as const;

/** Categories, the built-in ones and two custom ones, with a type each. */
const KINDS: [string, string][] = [
  ...Object.entries(CATEGORY_TYPES).map(([category, types]): [string, string] => [category, types[1]]),
  ["custom", "anything"],
  ["billing", "invoice"],
];

/**
 * @param now epoch milliseconds around which its entries lie
 * @param isStaged a request of lines that is staged: several batches, whose bodies the object has before it commits them
 */
export function makeBatch(random: Random, name: string, now: number, isStaged = random.oneIn(90)): SentBatch {
  const count = isStaged ? random.int(1001, 1200) : random.oneIn(14) ? random.int(100, 400) : random.int(1, 12);
  const noise = () => Array.from({ length: 8 }, () => random.int(0, 2 ** 30).toString(36)).join("");
  const padding = "x".repeat(!isStaged && random.oneIn(4) ? random.int(0, 2000) : 20);
  // Most batches are recent; some were kept for days by a disconnected client.
  const base = random.oneIn(8) ? now - random.pick(OLD_MS) : now;
  const entries = Array.from({ length: count }, (_, index) =>
    makeEntry(random, `${name}.${index}`, base, isStaged ? `${padding}${noise()}` : padding),
  );
  const sent: object[] = entries.map(({ timestamp, ...entry }) =>
    timestamp === null ? entry : { timestamp, ...entry },
  );
  // An invalid entry now and then: the receipt must list it, and `seq` must not count it.
  if (random.oneIn(3)) sent.splice(random.int(0, sent.length), 0, { message: "" });
  const isNdjson = isStaged || random.oneIn(4);
  return {
    name,
    key: random.oneIn(7) ? null : name,
    mediaType: isNdjson ? "application/x-ndjson" : "application/json",
    body: isNdjson ? sent.map((entry) => JSON.stringify(entry)).join("\n") : JSON.stringify(sent),
    entries,
    receipt: null,
  };
}

function makeEntry(random: Random, name: string, base: number, padding: string): SentEntry {
  const [category, type] = KINDS[random.int(0, KINDS.length - 1)] ?? ["custom", "anything"];
  // Within the retention, whatever the batch's time.
  const far = random.oneIn(100) ? random.int(0, 9 * DAY_MS) : 0;
  return {
    message: random.oneIn(20) ? `${name} ${NEEDLE}` : name,
    level: LEVELS[random.int(0, LEVELS.length - 1)] ?? "info",
    category,
    type,
    // Many share a millisecond, so that only `seq` orders them.
    timestamp: random.oneIn(5) ? null : base - far + random.int(-3, 3) * (random.oneIn(3) ? MINUTE_MS : 1),
    data: { group: random.int(0, 9), padding },
  };
}

/** The same request under the same key, with one letter changed. */
export function altered({ body }: SentBatch): string {
  return body.replace("xxx", "xyx").replace(/"message":"r/, '"message":"R');
}
