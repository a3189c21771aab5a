/** Logs by pino through pino-loki. */
import { once } from "node:events";
import pino from "pino";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const transport = pino.transport({
  target: "pino-loki",
  options: {
    host: CLIENT_URL,
    headers: { Authorization: `Bearer ${CLIENT_KEY}` },
    labels: { service_name: "test-clients" },
    batching: { interval: 0.2, maxBufferSize: 100_000 },
    silenceErrors: true,
  },
});
await once(transport, "ready");
const logger = pino(transport);
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  logger.warn({ number }, `${CLIENT_RUN}-${number}`);
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
// The worker thread of a transport does not keep the process alive.
const alive = setInterval(() => {}, 1_000);
transport.end();
await once(transport, "close");
clearInterval(alive);
// It drops a batch whose request fails, and does not say how many records that were.
console.log(JSON.stringify({ gaveUp: null }));
