/**
 * `npm run test:webkit [flow ...]`: the main flows of the console in WebKitGTK, by WebDriver, on a new server or the local one of `--url`. Takes a picture at the end of
 * each flow (dist/browsers), and checks it with axe-core. Exits with 1 if a flow fails. Flows depend on those before them up to "first entry".
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildAll } from "../../scripts/lib/bundle.ts";
import { ROOT } from "../../scripts/lib/paths.ts";
import { startServer } from "../support/server.ts";
import { startWebkit } from "./webkit-driver.ts";
import { FLOWS, type Trip } from "./webkit-flows.ts";
import { WebkitPage } from "./webkit-page.ts";

const PICTURES = path.join(ROOT, "dist/browsers");
/** Flows that make what the others need. */
const NEEDED = 2;
/** Characters of a fault that are printed. */
const MAX_FAULT = 400;

const { positionals: wanted, values } = parseArgs({ allowPositionals: true, options: { url: { type: "string" } } });
const flows = FLOWS.filter(({ name }, at) => wanted.length === 0 || at < NEEDED || wanted.includes(name));

if (values.url === undefined) await buildAll();
await mkdir(PICTURES, { recursive: true });
const server = values.url === undefined ? await startServer() : null;
const url = values.url ?? server?.url ?? "";
const webkit = await startWebkit();
let failed = 0;
try {
  const { driver } = webkit;
  const page = new WebkitPage(driver, url);
  const email = `trip-${Date.now()}@example.com`;
  const trip: Trip = { url, page, email, workspaceId: "", projectId: "", secret: "" };
  await driver.manage().window().setRect({ width: 1280, height: 900 });
  for (const [at, flow] of flows.entries()) {
    const startedAt = performance.now();
    const faults: string[] = [];
    try {
      await flow.run(trip);
      faults.push(...(await page.axeFaults()));
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
    const file = `webkit-${String(at + 1).padStart(2, "0")}-${flow.name.replaceAll(" ", "-")}.png`;
    await writeFile(path.join(PICTURES, file), await driver.takeScreenshot(), "base64");
    console.log(
      `${faults.length === 0 ? "ok    " : "FAILED"} ${flow.name}, ${Math.round(performance.now() - startedAt)} ms`,
    );
    for (const fault of faults) console.log(`       ${fault.slice(0, MAX_FAULT)}`);
    if (faults.length > 0) failed++;
    if (failed > 0 && at < NEEDED) break;
  }
} finally {
  await webkit.close();
  await server?.stop();
}
console.log(`${flows.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
