// pino-loki
import pino from "pino";

const logger = pino(
  pino.transport({
    target: "pino-loki",
    options: {
      host: "https://logs.example.com",
      headers: { Authorization: "Bearer sk_..." },
      labels: { service_name: "shop" },
    },
  }),
);

logger.error({ order: 7 }, "Payment failed");
