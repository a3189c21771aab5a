/** Logs by pino through pino-elasticsearch. */
import { once } from "node:events";
import pino from "pino";
import pinoElastic from "pino-elasticsearch";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
let gaveUp = 0;
const stream = pinoElastic({
  node: `${CLIENT_URL}/es`,
  auth: { apiKey: CLIENT_KEY },
  index: "test-clients",
  esVersion: 9,
  flushBytes: 4_000,
  flushInterval: 500,
});
stream.on("insertError", () => gaveUp++);
stream.on("error", (error) => {
  console.error(String(error));
  process.exitCode = 1;
});
const inserted = once(stream, "insert");
const logger = pino({ base: { service: "test-clients" } }, stream);
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  logger.warn({ number }, `${CLIENT_RUN}-${number}`);
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
stream.end();
await inserted;
console.log(JSON.stringify({ gaveUp }));
