import { WorkerEntrypoint } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { ColdTier } from "../logs/cold/cold-tier.ts";
import { type FlushCall, type FlushOutcome, writeRange } from "../workspace/flush/write-range.ts";

/**
 * What a workspace object hands a range of batches to: decoding, compressing and filters are work for the stateless side.
 * Nothing but this worker itself can call it.
 */
export class ColdWriter extends WorkerEntrypoint<Env> {
  async write(call: FlushCall): Promise<FlushOutcome> {
    return writeRange(new ColdTier(this.env), call, Date.now);
  }
}
