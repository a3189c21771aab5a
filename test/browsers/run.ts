/**
 * `npm run test:firefox [-- flow ...]` and `npm run test:webkit`: all flows of the console in Firefox or WebKitGTK, by WebDriver, on a new server with identity providers. Takes
 * a picture at the end of each flow (dist/browsers), and checks it with axe-core. Exits with 1 if a flow fails. Flows depend on those before them up to "first entry".
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildAll } from "../../scripts/lib/bundle.ts";
import { ROOT } from "../../scripts/lib/paths.ts";
import { startBothProviders } from "../../scripts/providers/both.ts";
import { freePort, startServer } from "../support/server.ts";
import { BROWSER_NAMES, isBrowserName, startBrowser } from "./drivers/start.ts";
import { FLOWS } from "./flows/all.ts";
import { BrowserPage } from "./page.ts";
import { startRecorder } from "./recorder.ts";
import { signIn, signOut, startReceiver, type Trip } from "./trip.ts";

const PICTURES = path.join(ROOT, "dist/browsers");
/** Flows that make what the others need. */
const NEEDED = 2;
/** Characters of a fault that are printed. */
const MAX_FAULT = 400;

const [name = "", ...wanted] = process.argv.slice(2);
const unknown = wanted.filter((flow) => !FLOWS.some(({ name }) => name === flow));
if (!isBrowserName(name) || unknown.length > 0) {
  console.error(`Browsers: ${BROWSER_NAMES.join(", ")}`);
  console.error(`Flows: ${FLOWS.map((flow) => JSON.stringify(flow.name)).join(", ")}`);
  process.exit(2);
}
const flows = FLOWS.filter((flow, at) => wanted.length === 0 || at < NEEDED || wanted.includes(flow.name));

await buildAll();
await mkdir(PICTURES, { recursive: true });
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const providers = await startBothProviders({ baseUrl: url, host: "127.0.0.1", ports: [0, 0] });
const receiver = await startReceiver();
const env = { BASE_URL: url, OUTBOUND_NETWORK: "loopback", ...providers.settings };
const server = await startServer({ env });
const recorder = await startRecorder(port, server.port);
const browser = await startBrowser(name);
let [passed, failed] = [0, 0];
try {
  const { driver, downloads } = browser;
  await driver.manage().setTimeouts({ script: 60_000, pageLoad: 60_000 });
  const page = new BrowserPage(driver, url);
  const email = `trip-${Date.now()}@example.com`;
  const picture = async (what: string): Promise<void> => {
    const file = `${name}-${what.replaceAll(/\W+/g, "-")}.png`;
    await writeFile(path.join(PICTURES, file), await driver.takeScreenshot(), "base64");
  };
  const { setAway } = recorder;
  const trip: Trip = {
    url,
    picture,
    page,
    email,
    downloads,
    receiver,
    setAway,
    workspaceId: "",
    projectId: "",
    secret: "",
  };
  await driver.manage().window().setRect({ width: 1280, height: 900 });
  for (const [at, flow] of flows.entries()) {
    const startedAt = performance.now();
    const faults: string[] = [];
    let isOver = true;
    try {
      await flow.run(trip);
      faults.push(...(await page.violations()));
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
      setAway(false);
      isOver = false;
    }
    faults.push(...recorder.take());
    await picture(`${String(at + 1).padStart(2, "0")}-${flow.name}`);
    console.log(
      `${faults.length === 0 ? "ok    " : "FAILED"} ${flow.name}, ${Math.round(performance.now() - startedAt)} ms`,
    );
    for (const fault of faults) console.log(`       ${fault.slice(0, MAX_FAULT)}`);
    if (faults.length > 0) failed++;
    else passed++;
    if (failed > 0 && at < NEEDED) break;
    // The next flow begins with the owner.
    if (!isOver)
      await signOut(trip)
        .then(() => signIn(trip, email))
        .catch(() => undefined);
  }
} finally {
  await browser.close();
  // The faults of the last document as it is left.
  const late = recorder.take();
  for (const fault of late) console.log(`FAILED ${fault.slice(0, MAX_FAULT)}`);
  failed += late.length;
  recorder.close();
  await server.stop();
  await providers.close();
  receiver.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
