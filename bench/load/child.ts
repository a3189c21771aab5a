/** The load generator's process, which must not share an event loop with the process that runs the servers. */
import { drive } from "./drive.ts";
import { pace } from "./pace.ts";
import { plant } from "./plant.ts";
import type { LoadCommand } from "./protocol.ts";

function answer(command: LoadCommand): Promise<unknown> {
  switch (command.kind) {
    case "run":
      return drive(command);
    case "seed":
      return plant(command);
    case "pace":
      return pace(command);
  }
}

process.on("message", async (command: LoadCommand) => {
  process.send?.(await answer(command));
});
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group, but only the parent handles it. This process ends with its parent.
process.on("SIGINT", () => {});
