import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../env.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { LeasedMemory } from "../../logs/query/memory.ts";
import { type PartCall, type PartOutcome, scanPart } from "../../logs/stats/scan-part.ts";
import type { ScannerRpc } from "../../rpc/scanner.ts";

/** Memory with which a part begins, as rows of a query; the same as that of a table. */
const PART_ROWS = 2048;

/**
 * Adds up parts of large tables, so that their row groups are decoded on several threads. Several objects for each
 * workspace, numbered; they store nothing.
 */
export class ScannerObject extends DurableObject<Env> implements ScannerRpc {
  async scan(call: PartCall): Promise<PartOutcome> {
    // The router holds memory while it waits for this part, perhaps of the same isolate, so the part must not wait for any.
    const memory = LeasedMemory.tryTake(PART_ROWS);
    if (memory === null) return { outcome: "refused" };
    try {
      const tier = new ColdTier(this.env);
      const unused = () => Promise.reject(new TypeError("A part reads known segments only."));
      const source = {
        workspaceId: call.workspaceId,
        recent: unused,
        cold: {
          findSegments: unused,
          segmentsBySeq: unused,
          readBodies: tier.readBodies.bind(tier),
          readFiles: tier.readFiles.bind(tier),
        },
        report: () => undefined,
      };
      return await scanPart(source, call, memory);
    } finally {
      memory.release();
    }
  }
}
