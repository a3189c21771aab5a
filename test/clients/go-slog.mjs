/** The program of examples/slog, with shorter waits. Argument: the executable of Go. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_RUN, CLIENT_PACE_MS, CLIENT_SCRATCH, CLIENT_EXAMPLES } =
  process.env;
const [go] = process.argv.slice(2);
const program = readFileSync(path.join(CLIENT_EXAMPLES, "slog/main.go"), "utf8");
const changes = [
  ["https://logs.example.com", CLIENT_URL],
  ["sk_...", CLIENT_KEY],
  ["time.Tick(time.Second)", "time.Tick(100 * time.Millisecond)"],
  ["time.Second << attempt", "100 * time.Millisecond << attempt"],
  [
    'slog.Error("Payment failed", "order", 7)',
    `for n := range ${CLIENT_COUNT} {
		slog.Error(fmt.Sprintf("${CLIENT_RUN}-%d", n), "n", n)
		time.Sleep(${CLIENT_PACE_MS} * time.Millisecond)
	}`,
  ],
];
const changed = changes.reduce((text, [from, to]) => {
  if (!text.includes(from)) throw new Error(`The example has no ${from}.`);
  return text.replace(from, () => to);
}, program);
const source = path.join(CLIENT_SCRATCH, "main.go");
const executable = path.join(CLIENT_SCRATCH, "main");
writeFileSync(source, changed);
execFileSync(go, ["build", "-o", executable, source], { cwd: CLIENT_SCRATCH, stdio: ["ignore", 2, 2] });
const child = spawn(executable, { stdio: ["ignore", "inherit", "pipe"] });
let errors = "";
child.stderr.setEncoding("utf8").on("data", (text) => {
  errors += text;
});
await once(child, "close");
const dropped = [...errors.matchAll(/(\d+) entries dropped/g)].map(([, count]) => Number(count));
console.log(JSON.stringify({ gaveUp: dropped.reduce((sum, count) => sum + count, 0) }));
