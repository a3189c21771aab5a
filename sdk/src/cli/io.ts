import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { withoutSecrets } from "./failure.ts";
import { shown } from "./pretty.ts";

/** The environment of a command: streams, variables, clock and randomness. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  now(): number;
  /** Random number from 0 to 1. */
  random(): number;
  /** Aborted when the command should stop. */
  stop: AbortSignal;
}

/** Writes a line of output. Waits if the reader is slower. */
export async function writeLine({ stdout, stop }: Io, line: string): Promise<void> {
  if (stdout.write(`${line}\n`) || stdout.destroyed) return;
  await once(stdout, "drain", { signal: stop }).catch(() => {});
}

/** Writes a message to standard error, of one or several lines. */
export function notice({ stderr }: Io, text: string): void {
  stderr.write(`${withoutSecrets(text).split("\n").map(shown).join("\n")}\n`);
}
