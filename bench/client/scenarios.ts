/** How the sink treats a client, and what the client logs. */

export interface Request {
  /** Number of this cell's requests before, from 0. */
  nth: number;
  /** Milliseconds since the cell's first request. */
  since: number;
  /** Epoch milliseconds of the cell's first request. */
  start: number;
  /** Numbers of the entries in the body, in order. */
  entries: readonly number[];
}

export interface Answer {
  /** `null`: no response. `cut`: the connection is destroyed. */
  status: number | "cut" | null;
  stores: boolean;
  headers?: Record<string, string>;
  /** The index in the body of the entry that the response names. */
  index?: number;
  /** Milliseconds before the response. */
  delay?: number;
}

export interface Scenario {
  title: string;
  entries: number;
  /** Entries logged a second, a hundredth of them every 10 ms. */
  perSecond: number;
  /** Bytes of text in each entry. */
  bytes: number;
  /** Number of entries that a sink can receive. */
  possible: number;
  answer(request: Request): Answer;
}

const TAKEN: Answer = { status: 200, stores: true };
const REFUSED: Answer = { status: 503, stores: false };
const OUTAGE_MS = 4000;
const PAUSE_MS = 3000;
const BAD_ENTRY = 250;
const MAX_A_REQUEST = 32;

/** 500 entries in half a second. */
const BURST = { entries: 500, perSecond: 1000, bytes: 100, possible: 500 };

/** 429 until the time that the headers name, however the client interprets them. */
function limited(title: string, headers: (end: number) => Record<string, string>): Scenario {
  return {
    ...BURST,
    title,
    answer: ({ since, start }) =>
      since < PAUSE_MS ? { status: 429, stores: false, headers: headers(start + PAUSE_MS) } : TAKEN,
  };
}

export const SCENARIOS = {
  slow: {
    title: "5,000 entries/s, answers after 50 ms",
    entries: 15_000,
    perSecond: 5000,
    bytes: 100,
    possible: 15_000,
    answer: () => ({ ...TAKEN, delay: 50 }),
  },
  flaky: { ...BURST, title: "503, 503, 200", answer: ({ nth }) => (nth < 2 ? REFUSED : TAKEN) },
  outage: { ...BURST, title: "503 for 4 s", answer: ({ since }) => (since < OUTAGE_MS ? REFUSED : TAKEN) },
  "retry-after": limited("429, Retry-After: 3", (end) => ({
    "Retry-After": String(Math.max(Math.ceil((end - Date.now()) / 1000), 1)),
  })),
  // A date has no milliseconds, so it names the next whole second.
  "retry-date": limited("429, Retry-After: a date", (end) => ({ "Retry-After": new Date(end + 999).toUTCString() })),
  reset: limited("429, X-RateLimit-Reset alone", (end) => ({
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "0",
    "X-RateLimit-Reset": String(Math.ceil(end / 1000)),
  })),
  "bad-entry": {
    ...BURST,
    title: "400 that names one bad entry",
    possible: 499,
    answer({ entries }) {
      const index = entries.indexOf(BAD_ENTRY);
      return index < 0 ? TAKEN : { status: 400, stores: false, index };
    },
  },
  "too-large": {
    ...BURST,
    title: `413 above ${MAX_A_REQUEST} entries`,
    answer: ({ entries }) => (entries.length > MAX_A_REQUEST ? { status: 413, stores: false } : TAKEN),
  },
  "lost-answer": {
    ...BURST,
    title: "stored, the answer lost, twice",
    answer: ({ nth }) => (nth < 2 ? { status: "cut", stores: true } : TAKEN),
  },
  silent: {
    title: "no answer for 30 s",
    entries: 30_000,
    perSecond: 1000,
    bytes: 2000,
    possible: 0,
    answer: () => ({ status: null, stores: false }),
  },
  exit: { ...BURST, title: "process.exit", entries: 10, possible: 10, answer: () => TAKEN },
  signal: { ...BURST, title: "SIGTERM", entries: 10, possible: 10, answer: () => TAKEN },
  uncaught: { ...BURST, title: "uncaught error", entries: 10, possible: 10, answer: () => TAKEN },
  natural: { ...BURST, title: "natural end", entries: 10, possible: 10, answer: () => TAKEN },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

/** Scenarios in which the process ends without being killed. */
export const ENDS = ["exit", "signal", "uncaught", "natural"] as const satisfies readonly ScenarioName[];
