/** Writes lines to a file that rsyslog reads and sends by omelasticsearch. The argument is rsyslog's executable. */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN, CLIENT_SCRATCH } = process.env;
const { hostname, port } = new URL(CLIENT_URL);
const log = path.join(CLIENT_SCRATCH, "app.log");
const config = path.join(CLIENT_SCRATCH, "rsyslog.conf");
const errors = path.join(CLIENT_SCRATCH, "errors.json");
writeFileSync(log, "");
writeFileSync(errors, "");
writeFileSync(
  config,
  `global(workDirectory="${CLIENT_SCRATCH}")
module(load="imfile" mode="polling" pollingInterval="1")
module(load="omelasticsearch")
template(name="entry" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="severity" name="syslogseverity-text" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
}
input(type="imfile" file="${log}" tag="test-clients" severity="warning")
action(type="omelasticsearch" server="${hostname}" serverport="${port}" uid="user" pwd="${CLIENT_KEY}"
  bulkmode="on" template="entry" searchIndex="test-clients" searchType="" errorFile="${errors}"
  queue.type="linkedList" queue.dequeueBatchSize="50" queue.timeoutShutdown="60000"
  action.resumeRetryCount="-1" action.resumeInterval="1")
`,
);
const agent = spawn(process.argv[2], ["-n", "-f", config, "-i", path.join(CLIENT_SCRATCH, "pid")], {
  stdio: ["ignore", "inherit", "inherit"],
});
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  appendFileSync(log, `${CLIENT_RUN}-${number}\n`);
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
await new Promise((resolve) => setTimeout(resolve, 45_000));
agent.kill();
const refused = readFileSync(errors, "utf8");
if (refused !== "") console.error(refused.slice(0, 1000));
console.log(JSON.stringify({ gaveUp: null }));
process.exit(0);
