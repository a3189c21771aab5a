import type { CompactionCall, CompactionOutcome } from "../logs/cold/compaction/compact.ts";

// Plain data only. These shapes cross versions during a deploy: add optional members and new methods only.

/** What workspace objects ask of a compactor object. */
export interface CompactorRpc {
  /** Does one step of the compaction of a project. Safe to repeat, also while another call runs. */
  compact(call: CompactionCall): Promise<CompactionOutcome>;
}
