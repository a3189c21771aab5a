import { ColdWriter as ServiceColdWriter } from "../../../src/objects/workspace/entrypoints.ts";
import type { FlushCall, FlushOutcome } from "../../../src/workspace/flush/write-range.ts";
import { chaos, pause } from "./chaos.ts";
import type { WorkspaceObject } from "./workspace.ts";

/** The cold writer with the faults that the plan sets. */
export class ColdWriter extends ServiceColdWriter {
  override write(call: FlushCall): Promise<FlushOutcome> {
    return chaos.writes.of(() => this.#write(call));
  }

  async #write(call: FlushCall): Promise<FlushOutcome> {
    const { before, after, late, again, abort, delayMs } = chaos.plan.writer;
    chaos.note("ranges written");
    await pause(chaos.delay(delayMs));
    if (chaos.strikes(before, "writer died before")) throw new Error("The writer has died.");
    if (chaos.strikes(late, "writer came late")) {
      this.#writeLater(call);
      throw new Error("The connection to the writer was lost.");
    }
    const outcome = await super.write(call);
    if (chaos.strikes(again, "writer wrote again")) this.#writeLater(call);
    if (chaos.strikes(abort, "object died before it heard")) await this.#abort(call.workspaceId);
    if (chaos.strikes(after, "writer died after")) throw new Error("The writer has died.");
    return outcome;
  }

  #writeLater(call: FlushCall): void {
    chaos.lateWriters++;
    const write = async () => {
      try {
        await pause(chaos.delay(chaos.plan.writer.lateMs));
        await super.write(call);
      } finally {
        chaos.lateWriters--;
      }
    };
    this.ctx.waitUntil(chaos.writes.of(write));
  }

  async #abort(workspaceId: string): Promise<void> {
    // SAFETY: the binding's class is the one that this bundle exports under its name.
    const objects = this.env.WORKSPACES as unknown as DurableObjectNamespace<WorkspaceObject>;
    await objects
      .get(objects.idFromName(workspaceId))
      .abortNow()
      .catch(() => {});
  }
}
