// An application that logs ten entries and ends. Arguments: how, address, spool directory, and how many entries.
import { createLogger } from "../../dist/node/index.mjs";

const [how, apiUrl, dir, count = "10"] = process.argv.slice(2);
const logger = createLogger({
  apiUrl,
  projectId: "proj_test",
  sessionId: how,
  spool: { dir },
  batch: { timeout: 1000 },
  shutdown: { timeoutMs: 2000 },
});

for (let n = 0; n < Number(count); n++) logger.info("entry", { n });

switch (how) {
  case "exit":
    process.exit(0);
    break;
  case "uncaught":
    throw new Error("nobody caught this");
  case "rejection":
    Promise.reject(new Error("nobody handled this"));
    break;
  case "signal":
    console.log("ready");
    setInterval(() => {}, 1000);
    break;
  case "graceful":
    process.on("SIGTERM", () => {
      logger.info("closing", { n: 10 });
      setTimeout(() => process.exit(0), 50);
    });
    console.log("ready");
    setInterval(() => {}, 1000);
    break;
  case "natural":
    break;
}
