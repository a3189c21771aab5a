/** Entries a second to a sink that answers 201, with the defaults: compressed, redacted. Prints JSON. */
import { createLogger } from "taffrail";

const SECONDS = 5;
const logger = createLogger({ apiUrl: `http://127.0.0.1:${process.argv[2]}`, projectId: "proj_bench" });
const cpu = process.cpuUsage();
const start = performance.now();
let n = 0;
while (performance.now() - start < SECONDS * 1000) {
  // At the rate at which the queue empties, so that nothing is dropped.
  if (logger.stats().pendingBytes < 4_000_000) {
    for (let i = 0; i < 500; i++)
      logger.info("user logged in", { userId: `u_${n}`, action: "login", ms: n++ / 2, ok: true });
  }
  await new Promise((resolve) => setImmediate(resolve));
}
const { delivered, dropped, pending } = await logger.flush();
const seconds = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage(cpu);
const { delivered: all, requests } = logger.stats();
console.log(
  JSON.stringify({ rate: all / seconds, cpuUs: (user + system) / all, requests, delivered, dropped, pending }),
);
process.exit(0);
