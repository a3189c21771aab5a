import { setTimeout } from "node:timers/promises";
import { KnownFrames } from "./known-frames.ts";
import type { TailsCommand, TailsResult } from "./protocol.ts";
import { TailClient } from "./tail-client.ts";

/** Maximum milliseconds until the last entries arrive. */
const LAST_MS = 15_000;

let tails: TailClient[] = [];
/** For each tail, the last `seq` and the time of each frame. */
let seen: [seq: number, at: number][][] = [];

async function open({ origin, path, authorization, count }: Extract<TailsCommand, { kind: "open" }>): Promise<null> {
  const known = new KnownFrames();
  tails = await Promise.all(Array.from({ length: count }, () => TailClient.open(origin, path, authorization, known)));
  seen = tails.map((tail) => {
    const frames: [seq: number, at: number][] = [];
    tail.onEntries = (seq) => frames.push([seq, performance.timeOrigin + performance.now()]);
    return frames;
  });
  return null;
}

async function close({ lastSeq }: Extract<TailsCommand, { kind: "close" }>): Promise<TailsResult> {
  const until = performance.now() + LAST_MS;
  while (performance.now() < until && tails.some((tail) => tail.last < lastSeq && tail.ended === null))
    await setTimeout(20);
  const result = { tails: tails.map(({ last, ended }, at) => ({ last, ended, seen: seen[at] ?? [] })) };
  for (const tail of tails) tail.end();
  return result;
}

/** The tails' process, separate so that neither the server's nor the sender's event loop waits for them. */
process.on("message", async (command: TailsCommand) => {
  process.send?.(command.kind === "open" ? await open(command) : await close(command));
});
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
