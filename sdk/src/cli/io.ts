import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { withoutSecrets } from "./failure.ts";
import { shown } from "./pretty.ts";

/** What a command has of the world around it. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  now(): number;
  /** 0 to 1. */
  random(): number;
  /** Aborts when the command is asked to come to its end. */
  stop: AbortSignal;
}

/** Writes a line of what was asked for; waits where its reader is slower. */
export async function writeLine({ stdout, stop }: Io, line: string): Promise<void> {
  if (stdout.write(`${line}\n`) || stdout.destroyed) return;
  await once(stdout, "drain", { signal: stop }).catch(() => {});
}

/** Says something beside what was asked for, in any number of lines. */
export function notice({ stderr }: Io, text: string): void {
  stderr.write(`${withoutSecrets(text).split("\n").map(shown).join("\n")}\n`);
}
