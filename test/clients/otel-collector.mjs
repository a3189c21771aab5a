/** Logs by the OpenTelemetry SDK to a Collector, which sends to the service. Argument: the Collector's executable. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";

const { CLIENT_URL, CLIENT_KEY, CLIENT_SCRATCH } = process.env;
const [collector] = process.argv.slice(2);
const port = await freePort();
const config = path.join(CLIENT_SCRATCH, "collector.yaml");
writeFileSync(
  config,
  `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
processors:
  batch:
    timeout: 200ms
exporters:
  otlphttp:
    endpoint: ${CLIENT_URL}
    headers:
      Authorization: Bearer ${CLIENT_KEY}
    retry_on_failure:
      initial_interval: 200ms
      max_interval: 1s
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    logs:
      receivers: [otlp]
      processors: [batch]
      exporters: [otlphttp]
`,
);
const child = spawn(collector, ["--config", config], { stdio: ["ignore", "ignore", "pipe"] });
let log = "";
child.stderr.setEncoding("utf8").on("data", (text) => {
  log += text;
});
process.on("exit", () => child.kill("SIGKILL"));
for (let left = 100; left > 0; left--) {
  const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
  if (isUp) break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
process.env.CLIENT_URL = `http://127.0.0.1:${port}`;
process.argv[2] = "@opentelemetry/exporter-logs-otlp-proto";
await import("./otel-js.mjs");
// The queue is sent before the process ends, except batches that wait for a repetition: those are dropped, and logged.
child.kill("SIGTERM");
await once(child, "close");
const dropped = [...log.matchAll(/"dropped_items": (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
console.log(JSON.stringify({ gaveUp: dropped }));

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address();
  server.close();
  return free;
}
