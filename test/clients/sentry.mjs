/** Sentry's SDK with logs. It does not repeat a request. With the argument `tunnel` the key is in the envelope's header only. */
import * as Sentry from "@sentry/node";

const { CLIENT_URL = "", CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const dsn = new URL(CLIENT_URL);
dsn.username = CLIENT_KEY ?? "";
dsn.pathname = "/1";
const tunnel = process.argv[2] === "tunnel" ? `${CLIENT_URL}/api/1/envelope/` : undefined;
Sentry.init({ dsn: dsn.href, enableLogs: true, ...(tunnel && { tunnel }) });
for (let n = 0; n < Number(CLIENT_COUNT); n++) {
  Sentry.logger.info(`${CLIENT_RUN}-${n}`, { n });
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
await Sentry.flush(10_000);
// Its reports of what it dropped are sent each minute and at the end of the process.
process.emit("beforeExit", 0);
await Sentry.flush(10_000);
// It does not count what a 429 refuses, and then drops for as long as the answer says: 60 s by default.
console.log(JSON.stringify({ gaveUp: null }));
process.exit();
