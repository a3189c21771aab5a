import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";

const EXAMPLE = path.join(import.meta.dirname, "../../../examples/python/main.py");
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Runs the example's handler with a service that refuses the second record, and prints what was sent. */
const PROGRAM = `
import io, json, logging, sys, urllib.error, urllib.request

sent = []

def urlopen(request, timeout):
    sent.append(json.loads(request.data, parse_constant=lambda name: 1 / 0))
    if len(sent) == 2:
        raise urllib.error.HTTPError(request.full_url, 400, "refused", {}, None)
    return io.BytesIO()

urllib.request.urlopen = urlopen
setup = open(sys.argv[1]).read().partition("logging.error(")[0]
names = {"__name__": "example"}
exec(setup, names)
numbers = {"nan": float("nan"), "list": [float("inf"), (1.5,)], 7: {"a": None}}
for n in range(4):
    logging.error("message %d", n, extra={"data": numbers})
names["listener"].stop()
print(json.dumps(sent))
`;

test.skipIf(!hasPython)(
  "the Python handler goes on after a refused record, and sends NaN and infinities as texts",
  () => {
    const { status, stdout, stderr } = spawnSync("python3", ["-c", PROGRAM, EXAMPLE], { encoding: "utf8" });
    expect(status).toBe(0);
    const sent: unknown = JSON.parse(stdout);
    const data = { nan: "nan", list: ["inf", [1.5]], 7: { a: null } };
    expect(sent).toEqual([0, 1, 2, 3].map((n) => expect.objectContaining({ message: `message ${n}`, ...data })));
    // The record that was refused is reported, once.
    expect(stderr.match(/--- Logging error ---/g)).toHaveLength(1);
    expect(stderr).toContain("HTTP Error 400");
  },
);
