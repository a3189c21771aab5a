/** What the harness and the variant of the service that it tests say to each other: `POST /chaos` with one `Order`. */

/** What the service is to suffer. Chances are from 0 to 1, times in milliseconds. */
export interface Plan {
  /** Of the dice that the chances are thrown with. */
  seed: number;
  d1: {
    /** A call fails and nothing of it was executed. */
    before: number;
    /** A call fails although all of it was executed. */
    after: number;
    /** Each call waits up to this long. */
    delayMs: number;
  };
  /** What becomes of a call of the cold writer. */
  writer: {
    /** It dies before it has begun. */
    before: number;
    /** It dies when all is stored. */
    after: number;
    /** It is given up for dead, and stores everything some time later. */
    late: number;
    /** It answers, and stores everything again some time later. */
    again: number;
    /** All is stored, and the object that waits for the answer dies. */
    abort: number;
    delayMs: number;
    /** How much later at most. */
    lateMs: number;
  };
  /** What an object hands over at once of recent batches at most: reads then take several turns, with flushes between. */
  pages: {
    bytes: number;
    batches: number;
    /** Each waits up to this long. */
    delayMs: number;
    /** Chance that everything that waits is moved to the cold tier between two pages of one read. */
    moves: number;
  };
  /** Settings of workspace objects that wake from now on, over those of the server. */
  settings: Record<string, string>;
}

export const CALM: Plan = {
  seed: 0,
  d1: { before: 0, after: 0, delayMs: 0 },
  writer: { before: 0, after: 0, late: 0, again: 0, abort: 0, delayMs: 0, lateMs: 0 },
  pages: { bytes: Number.MAX_SAFE_INTEGER, batches: Number.MAX_SAFE_INTEGER, delayMs: 0, moves: 0 },
  settings: {},
};

export type Order =
  | { do: "plan"; plan: Plan }
  /** Kills a workspace's object: its memory, its sockets, its calls. */
  | { do: "abort"; workspaceId: string }
  /** Answered with what the alarm threw, or null. */
  | ({ do: "alarm"; workspaceId: string } & AlarmOrder)
  /** Answers once no late writer is left. */
  | { do: "quiet" }
  /** As if so much time had passed since projects were deleted that nothing of them can arrive any more. */
  | { do: "age-deletions"; workspaceId: string }
  | { do: "look"; workspaceId: string }
  | { do: "counts" };

/** To run an alarm so many times, one after the other or all at once. */
export interface AlarmOrder {
  times: number;
  atOnce: boolean;
  /** Whether all that waits is to be moved to the cold tier, as if it were due. */
  isEager: boolean;
}

/** Faults that were brought about since the server's start, by name. */
export type Counts = Record<string, number>;

/** What a workspace has on disk, counted row by row rather than by what the service says. */
export interface Look {
  /** Live projects. `waiting`: what is counted as waiting to be moved; `recent`: what is there to be moved. */
  projects: { id: string; lastSeq: number; flushedSeq: number; waiting: Held; recent: Held }[];
  /** Rows of batches, their parts and receipts that belong to no live project. */
  orphans: number;
  doomed: number;
  /** Projects of which something is on its way to the cold tier. */
  intents: string[];
  setAside: number;
  lastError: string | null;
  /** Segments of the workspace in D1. */
  segments: { projectId: string; firstSeq: number; lastSeq: number; part: number; count: number }[];
}

export interface Held {
  batches: number;
  entries: number;
  bytes: number;
}
