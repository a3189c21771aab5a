import { setTimeout } from "node:timers/promises";
import type { TailsCommand, TailsResult } from "./protocol.ts";
import { TailClient } from "./tail-client.ts";

/** Milliseconds that the last entries may take. */
const LAST_MS = 15_000;

let tails: TailClient[] = [];
let seen: [seq: number, at: number][] = [];

async function open({ origin, path, authorization, count }: Extract<TailsCommand, { kind: "open" }>): Promise<null> {
  tails = await Promise.all(Array.from({ length: count }, () => TailClient.open(origin, path, authorization)));
  seen = [];
  const [first] = tails;
  if (first) first.onEntries = (seq) => seen.push([seq, performance.timeOrigin + performance.now()]);
  return null;
}

async function close({ lastSeq }: Extract<TailsCommand, { kind: "close" }>): Promise<TailsResult> {
  const until = performance.now() + LAST_MS;
  while (performance.now() < until && tails.some((tail) => tail.last < lastSeq && tail.closed === null))
    await setTimeout(20);
  const result: TailsResult = {
    tails: tails.map(({ count, first, last, closed }) => ({ count, first, last, closed })),
    seen,
  };
  for (const tail of tails) tail.end();
  return result;
}

/** The tails' own process: neither the server's nor the sender's event loop may wait for them. */
process.on("message", async (command: TailsCommand) => {
  process.send?.(command.kind === "open" ? await open(command) : await close(command));
});
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
