// pino-elasticsearch
import pino from "pino";

const logger = pino(
  pino.transport({
    target: "pino-elasticsearch",
    options: {
      node: "https://logs.example.com/es",
      auth: { apiKey: "sk_..." },
      index: "shop",
      esVersion: 9,
      flushInterval: 1000,
    },
  }),
);

logger.error({ order: 7 }, "Payment failed");
