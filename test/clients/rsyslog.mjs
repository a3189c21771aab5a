/**
 * Writes lines to a file that rsyslog reads and sends with a configuration of `examples`. Arguments: the output, and rsyslog's
 * executable, or nothing for the package of Debian that is unpacked beside this program.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const { CLIENT_URL = "", CLIENT_KEY = "", CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN, CLIENT_SCRATCH = "" } = process.env;
const { CLIENT_EXAMPLES = "" } = process.env;
const [output = "", executable = ""] = process.argv.slice(2);
const END_MS = 120_000;
const root = path.join(import.meta.dirname, "root");
const libraries = path.join(root, "usr/lib/x86_64-linux-gnu");
const isUnpacked = executable === "";
const program = isUnpacked ? path.join(root, "usr/sbin/rsyslogd") : executable;
const modules = isUnpacked ? path.join(libraries, "rsyslog") : path.resolve(path.dirname(executable), "../lib/rsyslog");
const env = { ...process.env, ...(isUnpacked && { LD_LIBRARY_PATH: libraries }) };

const { hostname, port } = new URL(CLIENT_URL);
const log = path.join(CLIENT_SCRATCH, "app.log");
const config = path.join(CLIENT_SCRATCH, "rsyslog.conf");
const statistics = path.join(CLIENT_SCRATCH, "statistics.json");
const example = readFileSync(path.join(CLIENT_EXAMPLES, `rsyslog/${output}.conf`), "utf8")
  .replaceAll("logs.example.com", hostname)
  .replaceAll('"443"', `"${port}"`)
  .replaceAll('usehttps="on"', 'usehttps="off"')
  .replaceAll("sk_...", CLIENT_KEY)
  // Small batches meet more faults.
  .replaceAll('queue.dequeueBatchSize="1000"', 'queue.dequeueBatchSize="20"')
  .replaceAll('batch.maxsize="1000"', 'batch.maxsize="20"')
  .replaceAll('action.resumeRetryCount="-1"', 'action.resumeRetryCount="-1" action.resumeInterval="1"')
  .replace(/^action\(/m, 'action(name="taffrail" ');
writeFileSync(log, "");
writeFileSync(
  config,
  `global(workDirectory="${CLIENT_SCRATCH}")
module(load="imfile" mode="polling" pollingInterval="1")
module(load="impstats" interval="1" format="json" log.syslog="off" log.file="${statistics}" resetCounters="off")
input(type="imfile" file="${log}" tag="test-clients" severity="warning")
${example}`,
);
const daemon = spawn(program, ["-n", "-f", config, "-M", modules, "-i", path.join(CLIENT_SCRATCH, "pid")], {
  env,
  stdio: ["ignore", "inherit", "inherit"],
});
process.on("exit", () => daemon.kill());
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The latest counters of rsyslog by the name of their part. */
function counters() {
  const lines = existsSync(statistics) ? readFileSync(statistics, "utf8").split("\n") : [];
  const found = {};
  for (const line of lines) {
    const at = line.indexOf("{");
    if (at < 0 || !line.endsWith("}")) continue;
    const { name, ...counts } = JSON.parse(line.slice(at));
    found[name] = counts;
  }
  return found;
}

for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  appendFileSync(log, `${CLIENT_RUN}-${number}\n`);
  await pause(Number(CLIENT_PACE_MS));
}
const end = Date.now() + END_MS;
for (;;) {
  await pause(2_000);
  const { "taffrail queue": queue, taffrail } = counters();
  const isSent =
    queue?.enqueued >= Number(CLIENT_COUNT) && queue.size === 0 && taffrail?.processed >= Number(CLIENT_COUNT);
  if (isSent || Date.now() > end) break;
}
// The batch that is being sent has left the queue, and batches that failed are in another one.
await pause(20_000);
daemon.kill();
await once(daemon, "close");
console.error(JSON.stringify(counters()));
// It takes an answer of 429 or 503 for final and does not count these messages.
console.log(JSON.stringify({ gaveUp: null }));
process.exit();
