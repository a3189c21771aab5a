import type { CompactionCall, CompactionOutcome } from "../../../src/logs/cold/compaction/compact.ts";
import { CompactorObject as ServiceCompactorObject } from "../../../src/objects/compactor/compactor.ts";
import { chaos, pause } from "./chaos.ts";

/** The compactor with the faults of the cold writer. */
export class CompactorObject extends ServiceCompactorObject {
  override compact(call: CompactionCall): Promise<CompactionOutcome> {
    return chaos.merges.of(() => this.#compact(call));
  }

  async #compact(call: CompactionCall): Promise<CompactionOutcome> {
    const { before, after, delayMs } = chaos.plan.writer;
    await pause(chaos.delay(delayMs));
    if (chaos.strikes(before, "compactor died before")) throw new Error("The compactor has died.");
    const outcome = await super.compact(call);
    chaos.note(`merges ${outcome.outcome}`);
    if (chaos.strikes(after, "compactor died after")) throw new Error("The compactor has died.");
    return outcome;
  }
}
