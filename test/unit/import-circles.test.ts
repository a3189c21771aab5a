import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = new URL("../../", import.meta.url).pathname;

/** Statements of module `a` that import from `./b.ts`, which imports a value from `a`. */
const CIRCLES = {
  import: 'import { b } from "./b.ts";\nexport const a = [b];\n',
  "export-from": 'export { b } from "./b.ts";\nexport const a = 1;\n',
  "star-export": 'export * from "./b.ts";\nexport const a = 1;\n',
  "import-for-effects": 'import "./b.ts";\nexport const a = 1;\n',
  // With `verbatimModuleSyntax` the statement stays after its types are erased.
  "import-of-inline-types": 'import { type B } from "./b.ts";\nexport const a: B = 1;\n',
  "export-of-inline-types": 'export { type B } from "./b.ts";\nexport const a = 1;\n',
};
const NO_CIRCLE = 'import type { B } from "./b.ts";\nexport const a: B = 1;\n';

/** Names of the module pairs in which the linter, with this project's rules, reports an error. */
async function refusedPairs(pairs: Record<string, string>): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), "circles-"));
  try {
    const { linter } = JSON.parse(await readFile(join(ROOT, "biome.json"), "utf8"));
    await writeFile(join(dir, "biome.json"), JSON.stringify({ linter }));
    for (const [name, a] of Object.entries(pairs)) {
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, "a.ts"), a);
      const b = 'import { a } from "./a.ts";\nexport type B = number;\nexport const b = a;\n';
      await writeFile(join(dir, name, "b.ts"), b);
    }
    const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
    const found = await run(process.execPath, [biome, "lint", "--reporter=github", "."], { cwd: dir }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    );
    return Object.keys(pairs).filter((name) => new RegExp(`::error .*${name}/a\\.ts`).test(found));
  } finally {
    await rm(dir, { recursive: true });
  }
}

describe("D20: no circle of values", () => {
  it("D20: the module that a circle made fail can be imported first", async () => {
    const url = new URL("../../src/accounts/families.ts", import.meta.url).href;
    await run(process.execPath, ["--input-type=module", "-e", `await import(${JSON.stringify(url)})`]);
  });

  it("D20: the linter refuses a circle of values in every form, and none of types", async () => {
    expect(await refusedPairs({ ...CIRCLES, "type-only": NO_CIRCLE })).toEqual(Object.keys(CIRCLES));
  });
});
