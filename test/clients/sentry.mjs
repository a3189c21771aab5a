/** Sentry's SDK with logs. It does not repeat a request. */
import * as Sentry from "@sentry/node";

const { CLIENT_URL = "", CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const dsn = new URL(CLIENT_URL);
dsn.username = CLIENT_KEY ?? "";
dsn.pathname = "/1";
Sentry.init({ dsn: dsn.href, enableLogs: true });
for (let n = 0; n < Number(CLIENT_COUNT); n++) {
  Sentry.logger.info(`${CLIENT_RUN}-${n}`, { n });
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
await Sentry.flush(10_000);
// It does not count what a 429 refuses, and then drops for as long as the answer says: 60 s by default.
console.log(JSON.stringify({ gaveUp: null }));
process.exit();
