import { build } from "esbuild";
import type { Packed } from "./pack.ts";

/** Bundles an application's code with the packed package. An `iife` loads Node's modules by `require`. */
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

/** Checks that bundles contain only code that is used. */
export async function checkTreeShaking(packed: Packed, names: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const name of names) {
    const code = await bundle(packed, `import "${name.replace(/^\./, "taffrail")}"`, ["node"]);
    if (code.replace(/import"node:[^"]+";?/g, "").trim() !== "") {
      faults.push(`importing ${name} without using it leaves ${code.length} B: ${code.slice(0, 100)}`);
    }
  }
  const testing = await bundle(packed, 'export { memoryTransport } from "taffrail/testing"', ["node"]);
  if (testing.includes("Idempotency-Key")) faults.push("taffrail/testing includes the transports");
  return faults;
}
