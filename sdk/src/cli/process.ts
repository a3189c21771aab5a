import type { Io } from "./io.ts";
import { run } from "./main.ts";

/**
 * Milliseconds in which a repeated signal is ignored: a wrapper may forward one that the process group received too.
 */
const ECHO_MS = 1000;
/** Exit code after SIGINT, as shells report it. */
const INTERRUPTED = 130;

/** Commands that finish their work after the first signal. */
const HAS_ENDING: readonly string[] = ["tail", "send", "export"];

/** Runs the command line of this process and ends the process. */
export async function runProcess(): Promise<void> {
  const { argv, stdin, stdout, stderr, env } = process;
  // On Linux `ps` shows the title instead of the arguments, which may contain a key.
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
    // EPIPE: the reader has closed the pipe, like `head`.
    stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  }
  const io: Io = { stdin, stdout, stderr, env, now: Date.now, random: Math.random, stop: stop.signal };
  const code = await run(argv.slice(2), io);
  await new Promise((written) => stdout.write("", written));
  process.exit(code);
}
