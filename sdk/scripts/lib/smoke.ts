import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { installBun } from "./bun.ts";
import { bundle } from "./bundle.ts";
import { type Packed, runModule } from "./pack.ts";

const run = promisify(execFile);

/** Applications that log in a context and flush. The service's URL is the first argument, or `url` in a worker. */
const MAIN = `
  const logger = createLogger({ apiUrl: url, projectId: "proj_smoke" });
  await logger.withContext({ requestId: "r1" }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    logger.http.request("from " + name, { list: [1n, new Map([["password", "x"]])] });
  });
  const result = await logger.flush();
  if (result.delivered !== 1) throw new Error(JSON.stringify(result));
`;

/** Runs the packed package on every available runtime, as ESM and CJS, against a server that answers 201. */
export async function checkRuntimes(packed: Packed): Promise<string[]> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    bodies.push(String(request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw));
    response.writeHead(201, { "Content-Type": "application/json" }).end('{"success":true,"data":{"rejected":[]}}');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  const url = `http://127.0.0.1:${address.port}`;
  const faults: string[] = [];
  for (const [name, attempt] of attempts(packed, url)) {
    bodies.length = 0;
    try {
      await attempt();
      const entry = JSON.parse(bodies[0] ?? "null");
      const isRight =
        entry?.message === `from ${name}` &&
        entry.data.requestId === "r1" &&
        JSON.stringify(entry.data.list) === '["1",{"password":"[REDACTED]"}]';
      if (!isRight) faults.push(`${name} sent ${bodies[0]}`);
      else console.log(`   ${name}: sent and redacted`);
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  server.closeAllConnections();
  server.close();
  return faults;
}

function attempts(packed: Packed, url: string): [string, () => Promise<unknown>][] {
  const { consumer } = packed;
  const file = (name: string, text: string) => {
    writeFileSync(path.join(consumer, name), text);
    return path.join(consumer, name);
  };
  const header = (name: string) => `const [url, name] = [${JSON.stringify(url)}, ${JSON.stringify(name)}];`;
  const esm = (name: string, entry: string) =>
    file(`${name}.mjs`.replaceAll(" ", "-"), `import { createLogger } from "${entry}";\n${header(name)}${MAIN}`);
  const cjs = (name: string, entry: string) =>
    file(
      `${name}.cjs`.replaceAll(" ", "-"),
      `const { createLogger } = require("${entry}");\n(async () => {${header(name)}${MAIN}})();`,
    );
  const node = process.execPath;
  const all: [string, () => Promise<unknown>][] = [
    ["node esm", () => run(node, [esm("node esm", "taffrail")])],
    ["node cjs", () => run(node, [cjs("node cjs", "taffrail")])],
    ["node spool", () => run(node, [esm("node spool", "taffrail/node")])],
    ["workerd", () => inWorkerd(packed, url)],
  ];
  const bun = installBun();
  if (bun !== undefined) {
    all.push(["bun esm", () => run(bun, [esm("bun esm", "taffrail")])]);
    all.push(["bun spool", () => run(bun, [cjs("bun spool", "taffrail/node")])]);
  } else {
    console.log("   Bun is not installed, and npm has no package for this machine: skipped");
  }
  return all;
}

async function inWorkerd(packed: Packed, url: string): Promise<void> {
  const code = `import { createLogger } from "taffrail";
    const [url, name] = [${JSON.stringify(url)}, "workerd"];
    const early = createLogger({ apiUrl: url, projectId: "proj_smoke" });
    export default { async fetch() { try { ${MAIN} early.debug("no"); return new Response("done"); }
      catch (error) { return new Response(String(error), { status: 500 }); } } };`;
  const contents = await bundle(packed, code, ["workerd", "worker"]);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: "smoke",
          compatibilityDate: "2026-11-01",
          compatibilityFlags: ["nodejs_compat"],
          modules: [{ type: "ESModule", path: "worker.js", contents }],
        },
      ],
    }),
  );
  try {
    const response = await miniflare.dispatchFetch("http://worker/");
    const text = await response.text();
    if (text !== "done") throw new Error(text);
  } finally {
    await miniflare.dispose();
  }
}

/** Compiles a consumer's code, as ESM and CJS, with its own categories. */
export function checkConsumerTypes({ consumer }: Packed): string[] {
  const code = (augmented: string) => `import { createLogger, type LogEntry } from "taffrail";
import { memoryTransport } from "taffrail/testing";
declare module "taffrail" {
  interface TaffrailCategories { ${augmented} }
}
const memory = memoryTransport();
const logger = createLogger({ transport: [memory, "console"], beforeSend: (entry: LogEntry) => entry });
logger.billing.invoice("sent", { amount: 5 });
logger.category("billing", "refund").warn("late");
logger.http.request("GET /");
// @ts-expect-error no such type
logger.category("billing", "nothing");
// @ts-expect-error no such category
logger.shipping;
export const last: LogEntry | undefined = memory.entries.at(-1);
`;
  for (const ending of ["mts", "cts"])
    writeFileSync(path.join(consumer, `types.${ending}`), code('billing: "invoice" | "refund"'));
  const options = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2022",
    lib: ["es2024", "dom", "esnext.disposable"],
    types: [],
  };
  writeFileSync(
    path.join(consumer, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files: ["types.mts", "types.cts"] }),
  );
  try {
    runModule("typescript/bin/tsc", ["-p", "tsconfig.json"], consumer);
    return [];
  } catch {
    return ["a consumer's types do not compile"];
  }
}
