/**
 * `npm run screens`: pictures of every page of the console, at two widths and in both themes, to dist/screens. Uses the
 * real build on a real server, with data created for them. `npm run screens -- login settings` takes only pictures
 * whose names begin so. The pictures of the README are copied to docs/screens.
 */
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type ConsoleUnderTest, startConsole } from "../test/e2e/support/console.ts";
import { freePort } from "../test/support/server.ts";
import { installChromium } from "./lib/chromium.ts";
import { ROOT } from "./lib/paths.ts";
import { startBothProviders } from "./providers/both.ts";
import { smallPng } from "./screens/png.ts";
import { SHOTS, type Shot } from "./screens/shots.ts";
import { makeWorld, type World } from "./screens/world.ts";

const TARGET = path.join(ROOT, "dist/screens");
/** Pictures that the README shows, and their paths. */
const README_PICTURES = ["explorer-1280-light.png", "explorer-entry-1280-dark.png"];
const README_DIR = path.join(ROOT, "docs/screens");
/** `most`: maximum height of a picture in lines; more lines would repeat similar content. */
const SIZES = [
  { width: 360, height: 740, most: 3200 },
  { width: 1280, height: 800, most: 1800 },
] as const;
const THEMES = ["light", "dark"] as const;
/** Maximum bytes of a picture. */
const MAX_BYTES = 100_000;
/** Maximum milliseconds of a step on the page. */
const PATIENCE_MS = 15_000;

const wanted = process.argv.slice(2);
const shots = SHOTS.filter(({ name }) => wanted.length === 0 || wanted.some((each) => name.startsWith(each)));

installChromium();
const port = await freePort();
const providers = await startBothProviders({ baseUrl: `http://127.0.0.1:${port}`, host: "127.0.0.1", ports: [0, 0] });
const running = await startConsole({ env: { ...providers.settings, PORT: String(port) } });
let failed = 0;
let addresses = 0;
try {
  const world = await makeWorld(running.server.url);
  if (wanted.length === 0) await rm(TARGET, { recursive: true, force: true });
  await mkdir(TARGET, { recursive: true });
  for (const shot of shots) {
    for (const size of SIZES) {
      for (const colorScheme of THEMES) {
        await take(running, world, shot, { size, colorScheme }).catch((error: unknown) => {
          failed++;
          console.error(`${fileOf(shot, size.width, colorScheme)}: ${error instanceof Error ? error.message : error}`);
        });
      }
    }
    console.log(shot.name);
  }
  await writeFile(path.join(TARGET, "README.md"), index());
} finally {
  await running.close();
  await providers.close();
}
for (const fault of new Set(running.faults())) console.error(fault);
process.exit(failed === 0 ? 0 : 1);

interface Look {
  size: (typeof SIZES)[number];
  colorScheme: (typeof THEMES)[number];
}

async function take(console: ConsoleUnderTest, world: World, shot: Shot, { size, colorScheme }: Look): Promise<void> {
  const address = `203.0.113.${++addresses % 250}`;
  const context = await console.open({
    viewport: size,
    colorScheme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    // Each picture uses another client IP, so that no limit by client IP applies.
    extraHTTPHeaders: { "X-Forwarded-For": address },
    ...(shot.as ? { as: shot.as(world) } : {}),
  });
  try {
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(shot.path(world));
    await page.waitForLoadState("networkidle");
    await shot.act?.(page, world);
    await page.waitForLoadState("networkidle");
    const png = await page.screenshot({ fullPage: shot.window === undefined });
    const file = path.join(TARGET, fileOf(shot, size.width, colorScheme));
    await writeFile(file, smallPng(png, MAX_BYTES, shot.window ? size.height : size.most));
    if (README_PICTURES.includes(path.basename(file))) await copyFile(file, path.join(README_DIR, path.basename(file)));
  } finally {
    await context.close();
  }
}

function fileOf({ name }: Shot, width: number, theme: string): string {
  return `${name}-${width}-${theme}.png`;
}

function index(): string {
  const rows = SHOTS.map((shot) => {
    const link = (width: number, theme: string) => `[${theme}](${fileOf(shot, width, theme)})`;
    return `| ${shot.title} | ${link(1280, "light")}, ${link(1280, "dark")} | ${link(360, "light")}, ${link(360, "dark")} |`;
  });
  return [
    "# The console in pictures",
    "",
    "Taken by `npm run screens` of the real build, with data made for them; `scripts/screens/shots.ts` is the list.",
    "",
    "| Page | 1,280 pixels wide | 360 pixels wide |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
