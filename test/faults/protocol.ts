/** Messages between the harness and the service variant under test: `POST /chaos` with one `Order`. */

/** The faults to cause. Chances are from 0 to 1, times in milliseconds. */
export interface Plan {
  /** Seed of the random numbers for the chances. */
  seed: number;
  d1: {
    /** A call fails before it was executed. */
    before: number;
    /** A call fails after it was executed. */
    after: number;
    /** Maximum wait of each call. */
    delayMs: number;
  };
  /** Faults of a call of the bucket. */
  bucket: {
    /** The call fails before it was executed. */
    before: number;
    /** The call fails after it was executed. */
    after: number;
    /** The call is refused because there are too many. */
    tooMany: number;
    /** Maximum wait of each call. */
    delayMs: number;
  };
  /** Faults of a call of the cold writer. */
  writer: {
    /** The call fails before it begins. */
    before: number;
    /** The call fails after everything was stored. */
    after: number;
    /** The call fails, and stores everything some time later. */
    late: number;
    /** The call succeeds, and stores everything again some time later. */
    again: number;
    /** Everything is stored, and the calling object is killed. */
    abort: number;
    delayMs: number;
    /** Maximum delay of late writes. */
    lateMs: number;
  };
  /** Maximum page of recent batches, so that reads take several turns with flushes in between. */
  pages: {
    bytes: number;
    batches: number;
    /** Maximum wait of each page. */
    delayMs: number;
    /** Chance that all unflushed batches move to the cold tier between two pages of one read. */
    moves: number;
  };
  /** Settings of workspace objects that start from now on, over those of the server. */
  settings: Record<string, string>;
}

export const CALM: Plan = {
  seed: 0,
  d1: { before: 0, after: 0, delayMs: 0 },
  bucket: { before: 0, after: 0, tooMany: 0, delayMs: 0 },
  writer: { before: 0, after: 0, late: 0, again: 0, abort: 0, delayMs: 0, lateMs: 0 },
  pages: { bytes: Number.MAX_SAFE_INTEGER, batches: Number.MAX_SAFE_INTEGER, delayMs: 0, moves: 0 },
  settings: {},
};

export type Order =
  | { do: "plan"; plan: Plan }
  /** Kills a workspace's object with its memory, sockets and calls. */
  | { do: "abort"; workspaceId: string }
  /** Returns the error of the alarm, or `null`. */
  | ({ do: "alarm"; workspaceId: string } & AlarmOrder)
  /**
   * Makes a merge of the workspace's segments due: of those that no writer can insert again.
   * `waits`: returns after it has ended.
   */
  | { do: "compact"; workspaceId: string; waits: boolean }
  /** Ages merges, so that readers see the merged segments. Only while nothing is read. */
  | { do: "age-merges"; workspaceId: string }
  /** Returns when no late writer is left. */
  | { do: "quiet" }
  /** Ages deletions, so that no late write of their projects can arrive any longer. */
  | { do: "age-deletions"; workspaceId: string }
  | { do: "look"; workspaceId: string }
  | { do: "counts" };

/** Runs an alarm the given number of times, one after the other or all at once. */
export interface AlarmOrder {
  times: number;
  atOnce: boolean;
  /** Whether unflushed batches are due immediately. */
  isEager: boolean;
}

/** Number of caused faults since the server's start, by name. */
export type Counts = Record<string, number>;

/** What a workspace stores, counted row by row instead of by the service's counters. */
export interface Look {
  /** Existing projects. `waiting`: the counter of unflushed batches; `recent`: the stored ones. */
  projects: { id: string; lastSeq: number; flushedSeq: number; waiting: Held; recent: Held }[];
  /** Rows of batches, their parts and receipts without an existing project. */
  orphans: number;
  deletedProjects: number;
  /** Projects with a flush in progress. */
  intents: string[];
  setAside: number;
  lastError: string | null;
  /** Segments of the workspace in D1. */
  segments: { projectId: string; firstSeq: number; lastSeq: number; part: number; count: number }[];
  /** Keys of files in the bucket that neither a segment nor the list of orphans names, and keys that have no file. */
  strayFiles: string[];
  missingFiles: string[];
}

export interface Held {
  batches: number;
  entries: number;
  bytes: number;
}
