import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto"; // or -otlp-http, for JSON
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";

const exporter = new OTLPLogExporter({
  url: "https://logs.example.com/v1/logs",
  headers: { Authorization: "Bearer sk_..." },
});
const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
const logger = provider.getLogger("app");

logger.emit({ severityNumber: 9, body: "order placed", attributes: { "order.id": "o-7" } });
await provider.shutdown(); // at the end of the program: sends what is left
