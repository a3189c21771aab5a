/** The load generator's own process: it must not share an event loop with what runs the servers. */
import { drive } from "./drive.ts";
import { plant } from "./plant.ts";
import type { LoadCommand } from "./protocol.ts";

process.on("message", async (command: LoadCommand) => {
  process.send?.(command.kind === "run" ? await drive(command) : await plant(command));
});
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the parent decides, and its end is this process's end.
process.on("SIGINT", () => {});
