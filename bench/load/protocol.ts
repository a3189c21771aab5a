/** Requests over and over for a fixed time, from several connections that each wait for their answer. */
export interface LoadRun {
  kind: "run";
  /** Scheme, host and port. */
  origin: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Whether every request carries an `Idempotency-Key` of its own. */
  idempotent: boolean;
  /** Entries in a body; 0 sends a GET without one. */
  batch: number;
  connections: number;
  /** Milliseconds before measuring begins. */
  warmMs: number;
  measureMs: number;
  /** Process whose CPU time is measured. */
  serverPid: number;
  expectedStatus: number;
}

export interface LoadResult {
  /** Requests answered as expected within the measured time. */
  requests: number;
  /** Seconds really measured. */
  seconds: number;
  /** CPU time of the server in the measured time. Null where it cannot be read. */
  serverCpuMicros: number | null;
  /** CPU time of the load generator in the measured time. */
  clientCpuMicros: number;
  /** CPU time of everything else on the machine in the measured time. Null where it cannot be read. */
  otherCpuMicros: number | null;
  p50Ms: number;
  p99Ms: number;
  /** Requests answered as expected in all, before and after the measured time included. */
  acknowledged: number;
  /** Requests answered otherwise or not at all. */
  failed: number;
  /** What the first of those got. */
  firstFailure: string | null;
}

/** Sends what the queries look through, once. */
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

/** Entries to look through: what is where follows from these numbers; see `seed.ts`. */
export interface Seed {
  /** Entries of each project. */
  perProject: number;
  projects: number;
  /** Epoch milliseconds: entries lie from `start`, inclusive, to `end`, evenly. */
  start: number;
  end: number;
  /** The one trace id that is asked for. */
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
  /** From when a request was due to its answer. */
  p50Ms: number;
  p99Ms: number;
  /** Last `seq` of each answer, and when it came: epoch milliseconds. */
  acks: [seq: number, at: number][];
  failed: number;
  firstFailure: string | null;
}

export type LoadCommand = LoadRun | SeedRun | PaceRun;

/** To the process of the tails: opens so many, or waits for a `seq`, tells what they got and ends them. */
export type TailsCommand =
  | { kind: "open"; origin: string; path: string; authorization: string; count: number }
  | { kind: "close"; lastSeq: number };

export interface TailsResult {
  tails: {
    /** It got every entry of the project up to this `seq`, once and in order. */
    last: number;
    /** Why it got no more; null while it is open. */
    ended: string | null;
    /** Last `seq` of each frame of entries, and when it came, epoch milliseconds. */
    seen: [seq: number, at: number][];
  }[];
}
