/** Logs by the OpenTelemetry SDK. Argument: the package of the exporter. */
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const { OTLPLogExporter } = await import(process.argv[2]);

const exporter = new OTLPLogExporter({
  url: `${CLIENT_URL}/v1/logs`,
  headers: { Authorization: `Bearer ${CLIENT_KEY}` },
});
let gaveUp = 0;
const send = exporter.export.bind(exporter);
exporter.export = (records, done) =>
  send(records, (result) => {
    if (result.code !== 0) gaveUp += records.length;
    done(result);
  });

const processor = new BatchLogRecordProcessor({
  ...{
    exporter,
    maxExportBatchSize: 10,
    scheduledDelayMillis: 100,
    maxQueueSize: 100_000,
    exportTimeoutMillis: 60_000,
  },
});
const provider = new LoggerProvider({ processors: [processor] });
const logger = provider.getLogger("test-clients", "1.0");
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  logger.emit({
    body: `${CLIENT_RUN}-${number}`,
    severityNumber: 9,
    severityText: "INFO",
    attributes: { number, "http.route": "/orders/:id" },
  });
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
await provider.forceFlush().catch(() => {});
await provider.shutdown().catch(() => {});
console.log(JSON.stringify({ gaveUp }));
