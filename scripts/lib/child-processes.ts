import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

/** Child processes of this process, oldest first. */
const children: ChildProcess[] = [];

subscribe("child_process", (message) => {
  // SAFETY: Node defines the message's shape: https://nodejs.org/api/diagnostics_channel.html#child-process
  const { process } = message as { process: ChildProcess };
  children.push(process);
  process.once("exit", () => children.splice(children.indexOf(process), 1));
});

/** The last process started with this command that still runs. The simulator does not expose its own. */
export function childRunning(command: string): ChildProcess | undefined {
  return children.findLast(({ spawnfile }) => spawnfile === command);
}
