// winston-elasticsearch
import winston from "winston";
import { ElasticsearchTransport } from "winston-elasticsearch";

const transport = new ElasticsearchTransport({
  level: "info",
  index: "shop",
  clientOpts: { node: "https://logs.example.com/es", auth: { apiKey: "sk_..." } },
});
const logger = winston.createLogger({ transports: [transport] });

logger.error("Payment failed", { order: 7 });
await transport.flush(); // at the end of the program: sends what is left, but does not wait for a request that is being sent
