import type { PartCall, PartOutcome } from "../logs/stats/scan-part.ts";

// Plain data only. These shapes cross versions during a deploy: a call has a version, and a scan object refuses others.

/** What routers ask of a scan object. */
export interface ScannerRpc {
  /** Adds up the entries of some segments. Reads only. */
  scan(call: PartCall): Promise<PartOutcome>;
}
