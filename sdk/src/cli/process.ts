import type { Io } from "./io.ts";
import { run } from "./main.ts";

/** Milliseconds in which a signal that comes again is the same one: a wrapper passes on what reached its whole group. */
const ECHO_MS = 1000;
/** As a shell shows an end by SIGINT. */
const INTERRUPTED = 130;

/** Commands that have something to do at their end. */
const HAS_ENDING: readonly string[] = ["tail", "send"];

/** Runs the command line of this process and ends the process. */
export async function runProcess(): Promise<void> {
  const { argv, stdin, stdout, stderr, env } = process;
  // On Linux this is what `ps` shows from now on, in place of a key.
  process.title = `taffrail ${argv[2] ?? ""}`.trim();
  const stop = new AbortController();
  let askedAt = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      const now = performance.now();
      const isAgain = stop.signal.aborted && now - askedAt > ECHO_MS;
      if (isAgain || !HAS_ENDING.includes(argv[2] ?? "")) process.exit(INTERRUPTED);
      askedAt = now;
      stop.abort();
    });
  }
  for (const stream of [stdout, stderr]) {
    // Who reads has had enough, as `head` does.
    stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  }
  const io: Io = { stdin, stdout, stderr, env, now: Date.now, random: Math.random, stop: stop.signal };
  const code = await run(argv.slice(2), io);
  await new Promise((written) => stdout.write("", written));
  process.exit(code);
}
