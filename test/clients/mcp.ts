/**
 * `npm run test:mcp`: the conformance suite of MCP for both eras and for authorization servers, and the MCP inspector, against a new server. Prints each
 * scenario, and exits with 1 if one fails. Scenarios for tools, resources and prompts that only a server made for the suite has are left out.
 *
 * Packages stay in a directory of the system's temporary directory for the next run. Not a part of the tests of a change: it needs the
 * package registry.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { agentToken, consentTo, registerClient } from "../support/agent.ts";
import { call, createTenant } from "../support/api.ts";
import { freePort, startServer } from "../support/server.ts";

const run = promisify(execFile);
const PACKAGES = [
  "@modelcontextprotocol/conformance@0.2.0-alpha.12",
  "@modelcontextprotocol/inspector@2.12.0",
] as const;
const CACHE = path.join(tmpdir(), "taffrail-mcp-clients");

/** Scenarios of the suite that any server has to pass, by revision. */
const SCENARIOS = {
  "2025-06-18": ["server-initialize", "ping", "tools-list"],
  "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  "2026-07-28": ["server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"],
} as const;

/**
 * Checks that the suite fails or cannot make for lack of what this server does not have: prompts, resources, and diagnostic tools that
 * are made for the suite. A check that passes all the same must be removed here.
 */
const NOT_OFFERED: Readonly<Record<string, readonly string[]>> = {
  caching: [
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
  ],
  "server-stateless": [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
  ],
};

if (!existsSync(path.join(CACHE, "node_modules", "@modelcontextprotocol", "inspector"))) {
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(path.join(CACHE, "package.json"), '{"private": true}');
  await run("npm", ["install", "--no-audit", "--no-fund", "--save-exact", ...PACKAGES], { cwd: CACHE });
}

const server = await startServer();
const tenant = await createTenant(server.url);
const token = tenant.key.secret;
const body = { logs: [{ message: "payment 7 failed", level: "error" }] };
await call(server.url, `/logger/${tenant.projectId}/log`, { token, body });

/** The suite sends no credential: passes its requests on with the key, and nothing else changed. */
const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const target = http.request(`${server.url}${request.url}`, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  target.on("error", () => response.destroy());
  request.pipe(target);
});
proxy.listen(0, "127.0.0.1");
await once(proxy, "listening");
const address = proxy.address();
const port = typeof address === "object" ? address?.port : 0;
const url = `http://127.0.0.1:${port}/mcp`;

/** Colors of a terminal, and a line of the suite's report. */
const ANSI = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
const FAILED_CHECK = /\[([\w.-]+) *\] FAILURE/g;

let failures = 0;
try {
  for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
    for (const scenario of scenarios) {
      const suite = path.join(CACHE, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
      const args = [suite, "server", "--url", url, "--scenario", scenario, "--spec-version", revision];
      await report(`${revision} ${scenario}`, args, "", NOT_OFFERED[scenario]);
    }
  }
  const suite = path.join(CACHE, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const authorization = [suite, "authorization", "--url", server.url, "--resource", `${server.url}/mcp`];
  const client = ["--client-id", await registerClient(server.url), "--port", String(await freePort())];
  await report("authorization server", [...authorization, ...client], "", undefined, consentOnce());
  const inspector = path.join(CACHE, "node_modules/.bin/mcp-inspector");
  const header = `Authorization: Bearer ${token}`;
  const inspect = [inspector, "--cli", `${server.url}/mcp`, "--transport", "http", "--header", header];
  await report("inspector tools/list", [...inspect, "--method", "tools/list"], '"search_logs"');
  const signedIn = `Authorization: Bearer ${await agentToken(server.url, tenant, ["logs:read", "views:write"])}`;
  const asAgent = [inspector, "--cli", `${server.url}/mcp`, "--transport", "http", "--header", signedIn];
  await report("inspector tools/list with a grant", [...asAgent, "--method", "tools/list"], '"save_view"');
  const query = ["--tool-name", "search_logs", "--tool-arg", "query=level:error"];
  await report("inspector tools/call", [...inspect, "--method", "tools/call", ...query], "payment 7 failed");
} finally {
  proxy.close();
  await server.stop();
}
console.log(failures === 0 ? "All passed." : `${failures} failed.`);
process.exitCode = failures === 0 ? 0 : 1;

/**
 * Runs a program of Node.
 * @param expected a text of its output
 * @param notOffered ids of the checks that fail in a scenario of the suite, if any may
 * @param seen called with all output so far
 */
async function report(
  name: string,
  args: readonly string[],
  expected = "",
  notOffered?: readonly string[],
  seen: (output: string) => void = () => {},
): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: CACHE, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      seen(output);
    });
  }
  const [code] = await once(child, "close");
  const failed = [...output.replace(ANSI, "").matchAll(FAILED_CHECK)].map(([, id]) => id);
  const isExcused = notOffered !== undefined && failed.join() === notOffered.join();
  const isPassed = isExcused || (code === 0 && output.includes(expected));
  if (notOffered !== undefined && !isExcused) console.log(`Failed checks: ${failed.join(" ")}`);
  console.log(`${isPassed ? "passed" : "FAILED"}  ${name}`);
  if (isPassed) return;
  failures++;
  console.log(output.replaceAll(token, "sk_...").slice(-4000));
}

/** Consents, as a user would in a browser, to the request whose address the suite prints. */
function consentOnce(): (output: string) => void {
  let isDone = false;
  return (output) => {
    const [url] = /\bhttp\S+\/oauth\/authorize\?\S+(?=\s)/.exec(output) ?? [];
    if (url === undefined || isDone) return;
    isDone = true;
    consentTo(url, tenant).then(fetch).catch(console.error);
  };
}
