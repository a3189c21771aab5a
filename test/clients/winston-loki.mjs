/** Logs by winston through winston-loki, as JSON or as Snappy protobuf: the first argument. */
import winston from "winston";
import LokiTransport from "winston-loki";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const transport = new LokiTransport({
  host: CLIENT_URL,
  headers: { Authorization: `Bearer ${CLIENT_KEY}` },
  labels: { service_name: "test-clients" },
  json: process.argv[2] === "json",
  format: winston.format.json(),
  interval: 0.2,
  timeout: 10_000,
  onConnectionError: () => {},
});
const logger = winston.createLogger({ transports: [transport] });
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  logger.warn(`${CLIENT_RUN}-${number}`, { number });
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
// After a failure it waits a minute, unless it is told to send.
for (let attempt = 0; attempt < 30; attempt++) {
  await transport.flush().catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 500));
}
console.log(JSON.stringify({ gaveUp: null }));
process.exit(0);
