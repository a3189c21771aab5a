// An application that logs ten entries and ends. Arguments: way to end, URL, spool directory, number of entries, and
// milliseconds for a flush at the end.
import { createLogger } from "../../dist/node/index.mjs";

const [how, apiUrl, dir, count = "10", timeoutMs = "8000"] = process.argv.slice(2);
const logger = createLogger({
  apiUrl,
  projectId: "proj_test",
  sessionId: how,
  spool: { dir },
  shutdown: { timeoutMs: Number(timeoutMs) },
});

for (let n = 0; n < Number(count); n++) logger.info("entry", { n });

switch (how) {
  case "exit":
    process.exit(0);
    break;
  case "listener":
    process.on("exit", () => logger.info("entry", { n: 10 }));
    process.on("exit", () => logger.child({ late: true }).info("entry", { n: 11 }));
    process.exit(0);
    break;
  case "uncaught":
    throw new Error("uncaught error of the test");
  case "rejection":
    Promise.reject(new Error("unhandled rejection of the test"));
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
