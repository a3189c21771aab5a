/** Measures what an application's bundle grows by, gzipped, and ends with 1 where that is over budget. */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Bytes of gzip -9 that an import may cost. */
const BUDGETS: readonly { name: string; code: string; conditions: string[]; max: number }[] = [
  {
    name: "taffrail (browser build)",
    code: 'export { createLogger } from "taffrail"',
    conditions: ["browser", "import"],
    max: 6144,
  },
  {
    name: "taffrail (Node build)",
    code: 'export { createLogger } from "taffrail"',
    conditions: ["node", "import"],
    max: 6144,
  },
];

let isOver = false;
for (const { name, code, conditions, max } of BUDGETS) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    conditions,
    external: ["node:*"],
    tsconfigRaw: "{}",
    metafile: true,
  });
  const bytes = gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
  isOver ||= bytes > max;
  console.log(`${bytes > max ? "OVER  " : "ok    "} ${name}: ${bytes} of ${max} B gzipped`);
  if (process.argv.includes("--parts")) {
    for (const output of Object.values(metafile.outputs)) {
      for (const [file, { bytesInOutput }] of Object.entries(output.inputs)) console.log(`  ${bytesInOutput} ${file}`);
    }
  }
}
process.exitCode = isOver ? 1 : 0;
