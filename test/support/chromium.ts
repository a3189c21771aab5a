import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The machine's own Chromium; CHROMIUM names another one. Without any the tests fail: what they show is shown nowhere else. */
export async function startChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM || PLACES.find((path) => existsSync(path));
  if (!executablePath) {
    throw new Error(`These tests need Chromium at ${PLACES.join(", ")} or in CHROMIUM (apt-get install chromium).`);
  }
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
