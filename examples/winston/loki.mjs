// winston-loki
import winston from "winston";
import LokiTransport from "winston-loki";

const transport = new LokiTransport({
  host: "https://logs.example.com",
  headers: { Authorization: "Bearer sk_..." },
  labels: { service_name: "shop" },
  format: winston.format.json(), // message, level and metadata as JSON, which become members of the entry
});
const logger = winston.createLogger({ transports: [transport] });

logger.error("Payment failed", { order: 7 });
await transport.flush(); // at the end of the program: sends what is left
