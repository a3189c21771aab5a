import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import type { Packed } from "./pack.ts";

export interface Budget {
  name: string;
  code: string;
  conditions: string[];
  /** Maximal bytes with gzip -9. */
  max: number;
}

interface Size {
  /** Bytes with gzip -9 of the files that are loaded at the start. */
  first: number;
  /** Bytes with gzip -9 of the files that are loaded on demand. */
  later: number;
}

/** Compares the bytes that an application loads at its start with the budgets. */
export async function checkSize(packed: Packed, budgets: readonly Budget[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, code, conditions, max } of budgets) {
    const { first, later } = await sizeOf(packed, code, conditions);
    console.log(`   ${name}: ${first} of ${max} B${later > 0 ? `, and ${later} B when they are needed` : ""}`);
    if (first > max) faults.push(`${name} is ${first} B gzipped, ${first - max} over its budget`);
  }
  return faults;
}

async function sizeOf({ consumer }: Packed, code: string, conditions: string[]): Promise<Size> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: consumer, sourcefile: "entry.js" },
    absWorkingDir: consumer,
    bundle: true,
    minify: true,
    splitting: true,
    metafile: true,
    write: false,
    outdir: "out",
    format: "esm",
    platform: "neutral",
    target: "es2022",
    conditions: [...conditions, "import"],
    external: ["node:*"],
    logLevel: "error",
  });
  const atStart = startOf(metafile.outputs);
  const size: Size = { first: 0, later: 0 };
  for (const { path, contents } of outputFiles) {
    const isFirst = [...atStart].some((name) => path.endsWith(`/${name}`));
    size[isFirst ? "first" : "later"] += gzipSync(contents, { level: 9 }).length;
  }
  return size;
}

/** Returns the files that are loaded at the start: the entry and its transitive static imports. */
function startOf(outputs: Metafile["outputs"]): ReadonlySet<string> {
  const names = new Set(Object.keys(outputs).filter((name) => outputs[name]?.entryPoint === "entry.js"));
  // The iteration of a set includes elements that are added to it.
  for (const name of names) {
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === "import-statement") names.add(path);
  }
  return names;
}
