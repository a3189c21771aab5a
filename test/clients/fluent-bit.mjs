/** Writes lines to a file that Fluent Bit reads. Arguments: its executable, and the name of an output. */
import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN, CLIENT_SCRATCH } = process.env;
const [program, output] = process.argv.slice(2);
const { hostname, port } = new URL(CLIENT_URL);
const OUTPUTS = {
  http: `Name http\n URI /ingest\n Format json_lines\n json_date_format iso8601\n Header Authorization Bearer ${CLIENT_KEY}\n compress gzip`,
  loki: `Name loki\n Labels service_name=test-clients\n bearer_token ${CLIENT_KEY}\n line_format json`,
  es: `Name es\n Path /es\n Index test-clients\n HTTP_User user\n HTTP_Passwd ${CLIENT_KEY}\n Suppress_Type_Name On\n Time_Key_Nanos On`,
  splunk: `Name splunk\n splunk_token ${CLIENT_KEY}`,
  datadog: `Name datadog\n TLS off\n apikey ${CLIENT_KEY}\n dd_service test-clients\n dd_source fluent-bit\n compress gzip`,
  opentelemetry: `Name opentelemetry\n logs_uri /v1/logs\n Header Authorization Bearer ${CLIENT_KEY}\n logs_body_key message`,
};

const freePort = await new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const log = path.join(CLIENT_SCRATCH, "app.log");
const parsers = path.join(CLIENT_SCRATCH, "parsers.conf");
const config = path.join(CLIENT_SCRATCH, "fluent-bit.conf");
writeFileSync(log, "");
writeFileSync(parsers, "[PARSER]\n Name app\n Format json\n Time_Key time\n Time_Format %Y-%m-%dT%H:%M:%S.%L\n");
writeFileSync(
  config,
  `[SERVICE]
 Flush 0.3
 Log_Level warn
 Parsers_File ${parsers}
 HTTP_Server On
 HTTP_Listen 127.0.0.1
 HTTP_Port ${freePort}
 scheduler.base 1
 scheduler.cap 2
[INPUT]
 Name tail
 Path ${log}
 Parser app
 Read_from_Head On
 Refresh_Interval 1
[OUTPUT]
 ${OUTPUTS[output]}
 Match *
 Host ${hostname}
 Port ${port}
 Retry_Limit 20
`,
);
const agent = spawn(program, ["-c", config], { stdio: ["ignore", "inherit", "inherit"] });
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  const time = new Date().toISOString().slice(0, -1);
  appendFileSync(log, `${JSON.stringify({ time, level: "warn", message: `${CLIENT_RUN}-${number}`, number })}\n`);
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
let gaveUp = null;
for (let waited = 0; waited < 90; waited++) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const answer = await fetch(`http://127.0.0.1:${freePort}/api/v1/metrics`).catch(() => null);
  const [metrics] = Object.values((await answer?.json())?.output ?? {});
  gaveUp = metrics?.dropped_records ?? null;
  if (metrics !== undefined && metrics.proc_records + metrics.dropped_records >= Number(CLIENT_COUNT)) break;
}
agent.kill();
console.log(JSON.stringify({ gaveUp }));
process.exit(0);
