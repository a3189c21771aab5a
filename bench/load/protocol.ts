import type { DoorFormat } from "./door-bodies.ts";

/** Repeated requests for a fixed time, from several connections that each wait for their response. */
export interface LoadRun {
  kind: "run";
  /** Scheme, host and port. */
  origin: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Whether every request has its own `Idempotency-Key`. */
  idempotent: boolean;
  /** Entries in a body; 0 sends a GET without a body. */
  batch: number;
  /** The protocol of the bodies, each sent once; by default the service's own entries. */
  format?: DoorFormat;
  connections: number;
  /** Milliseconds before the measurement begins. */
  warmMs: number;
  measureMs: number;
  /** Process whose CPU time is measured. */
  serverPid: number;
  expectedStatus: number;
}

export interface LoadResult {
  /** Requests with the expected response within the measured time. */
  requests: number;
  /** Seconds that were measured. */
  seconds: number;
  /** CPU time of the server in the measured time; `null` if it cannot be read. */
  serverCpuMicros: number | null;
  /** CPU time of the load generator in the measured time. */
  clientCpuMicros: number;
  /** CPU time of everything else on the machine in the measured time; `null` if it cannot be read. */
  otherCpuMicros: number | null;
  p50Ms: number;
  p99Ms: number;
  /** Requests with the expected response in total, including those before and after the measured time. */
  acknowledged: number;
  /** Requests with another response or none. */
  failed: number;
  /** The response of the first of those. */
  firstFailure: string | null;
}

/** Sends the entries for the queries, once. */
export interface SeedRun {
  kind: "seed";
  origin: string;
  projects: readonly { path: string; authorization: string }[];
  seed: Seed;
}

export interface SeedResult {
  acknowledged: number;
  seconds: number;
  firstFailure: string | null;
}

/** The entries for the queries. These numbers determine their content; see `seed.ts`. */
export interface Seed {
  /** Entries of each project. */
  perProject: number;
  projects: number;
  /** Epoch milliseconds: entries are spread evenly from `start`, inclusive, to `end`. */
  start: number;
  end: number;
  /** The only trace id that is searched. */
  traceId: string;
}

/** Requests at a fixed rate. */
export interface PaceRun {
  kind: "pace";
  origin: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  batch: number;
  /** Requests a second. */
  perSecond: number;
  connections: number;
  measureMs: number;
}

export interface PaceResult {
  seconds: number;
  /** From the time at which a request was due to its response. */
  p50Ms: number;
  p99Ms: number;
  /** Last `seq` of each response, and its time in epoch milliseconds. */
  acks: [seq: number, at: number][];
  failed: number;
  firstFailure: string | null;
}

export type LoadCommand = LoadRun | SeedRun | PaceRun;

/**
 * To the process of the tails: opens the given number, or waits for a `seq`, reports what they received and closes
 * them.
 */
export type TailsCommand =
  | { kind: "open"; origin: string; path: string; authorization: string; count: number }
  | { kind: "close"; lastSeq: number };

export interface TailsResult {
  tails: {
    /** The tail received every entry of the project up to this `seq`, once and in order. */
    last: number;
    /** Why the tail received no more; `null` while it is open. */
    ended: string | null;
    /** Last `seq` of each frame of entries, and its time in epoch milliseconds. */
    seen: [seq: number, at: number][];
  }[];
}
