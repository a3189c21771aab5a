/** Logs by pino through pino-opentelemetry-transport, which is configured by variables. */
import { once } from "node:events";
import pino from "pino";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const transport = pino.transport({
  target: "pino-opentelemetry-transport",
  options: {
    resourceAttributes: { "service.name": "test-clients" },
    logRecordProcessorOptions: {
      recordProcessorType: "batch",
      processorConfig: { maxExportBatchSize: 50, scheduledDelayMillis: 100, maxQueueSize: 100_000 },
      exporterOptions: {
        protocol: "http/protobuf",
        protobufExporterOptions: {
          url: `${CLIENT_URL}/v1/logs`,
          headers: { Authorization: `Bearer ${CLIENT_KEY}` },
        },
      },
    },
  },
});
const logger = pino(transport);
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  logger.info({ number }, `${CLIENT_RUN}-${number}`);
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
// The stream gives its thread 10 s to end, which the exporter's attempts may exceed.
await new Promise((resolve) => setTimeout(resolve, 20_000));
const closed = once(transport, "close");
transport.end();
await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 15_000))]);
console.log(JSON.stringify({ gaveUp: null }));
process.exit(0);
