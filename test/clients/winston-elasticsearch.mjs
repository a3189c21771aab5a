/** Logs by winston through winston-elasticsearch. */
import winston from "winston";
import { ElasticsearchTransport } from "winston-elasticsearch";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const transport = new ElasticsearchTransport({
  level: "info",
  index: "test-clients",
  clientOpts: { node: `${CLIENT_URL}/es`, auth: { apiKey: CLIENT_KEY } },
  flushInterval: 200,
});
transport.on("error", () => {});
const logger = winston.createLogger({ transports: [transport] });
logger.on("error", () => {});
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  logger.warn(`${CLIENT_RUN}-${number}`, { number });
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
await new Promise((resolve) => setTimeout(resolve, 20_000));
console.log(JSON.stringify({ gaveUp: null }));
process.exit(0);
