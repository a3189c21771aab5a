/** syslog-ng with the configuration of `examples`, fed with RFC 5424 over TCP. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";

const { CLIENT_URL = "", CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN, CLIENT_SCRATCH = "" } = process.env;
const { CLIENT_EXAMPLES = "" } = process.env;
const PORT = 15_514;
const END_MS = 150_000;
const root = path.join(import.meta.dirname, "root");
const libraries = path.join(root, "usr/lib/syslog-ng");
const modules = path.join(libraries, readdirSync(libraries).find((name) => /^\d/.test(name)) ?? "");
const env = {
  ...process.env,
  LD_LIBRARY_PATH: [
    path.join(root, "usr/lib/x86_64-linux-gnu"),
    path.join(root, "lib/x86_64-linux-gnu"),
    libraries,
  ].join(":"),
};
const control = path.join(CLIENT_SCRATCH, "control");

const example = readFileSync(path.join(CLIENT_EXAMPLES, "syslog-ng/taffrail.conf"), "utf8")
  .replaceAll("https://logs.example.com", CLIENT_URL)
  .replaceAll("sk_...", CLIENT_KEY ?? "")
  .replace("disk-buffer(", `disk-buffer(dir("${CLIENT_SCRATCH}") `)
  .replace("batch-timeout(1000)", "batch-timeout(200)");
const settings = [
  "@version: 3.38",
  "options { time-reopen(1); };",
  `source s_src { network(ip("127.0.0.1") port(${PORT}) transport("tcp") flags(syslog-protocol)); };`,
  example,
].join("\n");
const file = path.join(CLIENT_SCRATCH, "syslog-ng.conf");
writeFileSync(file, settings);
const daemon = spawn(
  path.join(root, "usr/sbin/syslog-ng"),
  [
    "-F",
    "-f",
    file,
    `--module-path=${modules}`,
    `--persist-file=${CLIENT_SCRATCH}/persist`,
    `--pidfile=${CLIENT_SCRATCH}/pid`,
    `--control=${control}`,
    "--no-caps",
  ],
  { env, stdio: "ignore" },
);
process.on("exit", () => daemon.kill());
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until syslog-ng listens. */
async function connected() {
  for (let attempt = 0; attempt < 50; attempt++) {
    const socket = connect(PORT, "127.0.0.1");
    try {
      await once(socket, "connect");
      return socket;
    } catch {
      await pause(100);
    }
  }
  throw new Error("syslog-ng does not listen.");
}

/** Counters of the destination. */
function stats() {
  const text = execFileSync(path.join(root, "usr/sbin/syslog-ng-ctl"), ["stats", `--control=${control}`], {
    env,
    encoding: "utf8",
  });
  const of = (name) => Number(new RegExp(`^dst\\.http;[^;]*;[^;]*;a;${name};(\\d+)$`, "m").exec(text)?.[1] ?? 0);
  return { written: of("written"), dropped: of("dropped"), queued: of("queued") };
}

const socket = await connected();
const count = Number(CLIENT_COUNT);
for (let n = 0; n < count; n++) {
  socket.write(
    `<165>1 ${new Date().toISOString().replace("Z", "001Z")} web-1 checkout 710 - [order@32473 n="${n}"] ${CLIENT_RUN}-${n}\n`,
  );
  await pause(Number(CLIENT_PACE_MS));
}
socket.end();
const end = Date.now() + END_MS;
let last = stats();
while (last.written + last.dropped < count && Date.now() < end) {
  await pause(500);
  last = stats();
}
daemon.kill();
await once(daemon, "close");
console.log(JSON.stringify({ gaveUp: last.dropped }));
process.exit();
