import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { entryPoints, SDK } from "./pack.ts";

const SNAPSHOT = path.join(SDK, "api.snapshot.d.ts");

/** Compares the public types with the snapshot, so that changes are deliberate. @param update whether to rewrite it */
export function checkApi(update: boolean): string[] {
  const now = surface();
  if (update) writeFileSync(SNAPSHOT, now);
  if (existsSync(SNAPSHOT) && readFileSync(SNAPSHOT, "utf8") === now) return [];
  const before = existsSync(SNAPSHOT) ? new Set(readFileSync(SNAPSHOT, "utf8").split("\n")) : new Set();
  const changed = now.split("\n").filter((line) => !before.has(line));
  return [`the public types changed; if intended: npm run sdk:gates -- --update\n${changed.slice(0, 20).join("\n")}`];
}

/** Concatenates all declaration files that entry points import, each once, entry points first. */
function surface(): string {
  const files = entryPoints().map(({ types }) => path.normalize(types));
  for (const file of files) {
    const text = readFileSync(path.join(SDK, file), "utf8");
    for (const [, target = ""] of text.matchAll(/from "(\.[^"]+)"/g)) {
      const found = path.join(path.dirname(file), target.replace(/\.mjs$/, ".d.mts"));
      if (!files.includes(found)) files.push(found);
    }
  }
  const unknown = files.filter(
    (file) => !readdirSync(path.join(SDK, path.dirname(file))).includes(path.basename(file)),
  );
  if (unknown.length > 0) throw new Error(`Missing declarations: ${unknown.join(", ")}`);
  return files.map((file) => `// ${file}\n${readFileSync(path.join(SDK, file), "utf8").trim()}\n`).join("\n");
}
