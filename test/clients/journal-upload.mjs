/**
 * systemd-journal-upload: entries are added to a journal file, and the uploader is started again whenever it ends, as systemd
 * does it with `Restart=on-failure`.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const { CLIENT_URL = "", CLIENT_KEY, CLIENT_COUNT, CLIENT_RUN, CLIENT_SCRATCH = "" } = process.env;
const { CLIENT_PACE_MS } = process.env;
const count = Number(CLIENT_COUNT);
/** Entries that are added at once. */
const STEP = 40;
const END_MS = 150_000;
const root = path.join(import.meta.dirname, "root");
const directory = path.join(CLIENT_SCRATCH, "journal");
const state = path.join(CLIENT_SCRATCH, "state");
const env = {
  ...process.env,
  LD_LIBRARY_PATH: ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"].map((lib) => path.join(root, lib)).join(":"),
};
const program = (name) => path.join(root, "lib/systemd", name);
mkdirSync(directory);

function add(from, to) {
  const boot = "0123456789abcdef0123456789abcdef";
  let text = "";
  for (let n = from; n < to; n++) {
    const micros = BigInt(Date.now()) * 1000n + BigInt(n);
    text += `__REALTIME_TIMESTAMP=${micros}\n__MONOTONIC_TIMESTAMP=${1_000_000 + n}\n_BOOT_ID=${boot}\n`;
    text += `PRIORITY=${n % 8}\n_HOSTNAME=web-1\n_SYSTEMD_UNIT=checkout.service\nMESSAGE=${CLIENT_RUN}-${n}\n\n`;
  }
  const file = path.join(CLIENT_SCRATCH, "added");
  writeFileSync(file, text);
  execFileSync(program("systemd-journal-remote"), ["-o", path.join(directory, "system.journal"), file], {
    env,
    stdio: "ignore",
  });
}

/** Number of the last acknowledged entry. */
function acknowledged() {
  if (!existsSync(state)) return 0;
  return Number.parseInt(/LAST_CURSOR=.*?;i=([0-9a-f]+);/.exec(readFileSync(state, "utf8"))?.[1] ?? "0", 16);
}

const { protocol, host } = new URL(CLIENT_URL);
let uploader;
let starts = 0;
let isOver = false;
function upload() {
  if (isOver) return;
  starts++;
  const url = `${protocol}//journal:${CLIENT_KEY}@${host}/journal`;
  uploader = spawn(
    program("systemd-journal-upload"),
    [`--directory=${directory}`, `--url=${url}`, `--save-state=${state}`],
    { env, stdio: "ignore" },
  );
  uploader.on("close", () => setTimeout(upload, 300));
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
add(0, Math.min(STEP, count));
upload();
for (let n = STEP; n < count; n += STEP) {
  await pause(STEP * Number(CLIENT_PACE_MS));
  add(n, Math.min(n + STEP, count));
}
const end = Date.now() + END_MS;
while (acknowledged() < count && Date.now() < end) await pause(200);
isOver = true;
uploader.kill();
console.log(JSON.stringify({ gaveUp: 0, starts, acknowledged: acknowledged() }));
process.exit();
