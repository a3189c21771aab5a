// pino-opentelemetry-transport, with the variables OTEL_EXPORTER_OTLP_ENDPOINT=https://logs.example.com,
// OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20sk_..." and OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf
import pino from "pino";

const logger = pino(pino.transport({ target: "pino-opentelemetry-transport" }));

logger.error({ order: 7 }, "Payment failed");
