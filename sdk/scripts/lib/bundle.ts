import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Packed } from "./pack.ts";

/** The bundle an application gets for `code`, with the package as it is packed. As `iife` it asks `require` for Node's modules. */
export async function bundle(
  { consumer }: Packed,
  code: string,
  conditions: string[],
  format: "esm" | "iife" = "esm",
): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: consumer },
    bundle: true,
    minify: true,
    write: false,
    format,
    platform: "neutral",
    target: "es2022",
    conditions: [...conditions, "import"],
    external: ["node:*"],
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

export interface Budget {
  name: string;
  code: string;
  conditions: string[];
  /** Bytes of gzip -9 it may have. */
  max: number;
  /** What it should come down to; said as long as it has not. */
  target: number;
}

export async function checkSize(packed: Packed, budgets: readonly Budget[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, code, conditions, max, target } of budgets) {
    const bytes = gzipSync(await bundle(packed, code, conditions), { level: 9 }).length;
    console.log(
      `   ${name}: ${bytes} of ${max} B${bytes > target ? `, ${bytes - target} over the target of ${target}` : ""}`,
    );
    if (bytes > max) faults.push(`${name} is ${bytes} B gzipped, ${bytes - max} over its budget`);
  }
  return faults;
}

/** What is not used must not be in the bundle. */
export async function checkTreeShaking(packed: Packed, names: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const name of names) {
    const code = await bundle(packed, `import "${name.replace(/^\./, "taffrail")}"`, ["node"]);
    if (code.replace(/import"node:[^"]+";?/g, "").trim() !== "") {
      faults.push(`importing ${name} without using it leaves ${code.length} B: ${code.slice(0, 100)}`);
    }
  }
  const testing = await bundle(packed, 'export { memoryTransport } from "taffrail/testing"', ["node"]);
  if (testing.includes("Idempotency-Key")) faults.push("taffrail/testing brings the transports along");
  return faults;
}
