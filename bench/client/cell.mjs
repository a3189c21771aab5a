/**
 * One client in one scenario. Arguments: client, scenario, the sink's address, and `again` for the start after the end
 * of a process. Prints lines of JSON, the last one with `flushMs` when everything is logged and flushed, and waits to
 * be killed.
 */
import { ENDS, SCENARIOS } from "./scenarios.ts";
import { SHIPPERS } from "./shippers.mjs";

/** Milliseconds after which a flush counts as hanging. */
const FLUSH_MS = 20_000;

const [client, name, url, again] = process.argv.slice(2);
const { entries, perSecond, bytes } = SCENARIOS[name];
const { log, flush } = await SHIPPERS[client].ship(url);
const text = "A line of the kind that applications log. ".repeat(bytes).slice(0, bytes);
let logged = 0;

function one() {
  const n = logged++;
  log(`entry @${String(n).padStart(6, "0")}@`, { n, text });
}

if (again) {
  // Nothing to log, and nothing left to do.
} else if (ENDS.includes(name)) {
  while (logged < entries) one();
  end();
} else {
  const before = memory();
  await pace();
  const grown = memory();
  say({ heap: grown.heap - before.heap, rss: grown.rss - before.rss });
  say({ flushMs: flush ? await timed(flush) : null });
  setInterval(() => {}, 1000);
}

function end() {
  if (name === "exit") process.exit(0);
  if (name === "uncaught") throw new Error("uncaught error");
  if (name === "natural") return;
  setInterval(() => {}, 1000);
  say({ flushMs: null });
}

function say(what) {
  console.log(JSON.stringify(what));
}

async function pace() {
  const start = performance.now();
  while (logged < entries) {
    const due = Math.min(((performance.now() - start) / 1000) * perSecond, entries);
    while (logged < due) one();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Milliseconds until the promise has settled, or -1 if it has not. */
async function timed(work) {
  const start = performance.now();
  const limit = new Promise((resolve) => setTimeout(resolve, FLUSH_MS, "late"));
  const settled = Promise.resolve(work()).then(
    () => "settled",
    () => "settled",
  );
  return (await Promise.race([settled, limit])) === "late" ? -1 : performance.now() - start;
}

/** Bytes after two collections: the heap, and memory outside of it such as buffers. */
function memory() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}
