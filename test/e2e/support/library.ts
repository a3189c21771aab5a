import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** The client library's sources. */
const LIBRARY = pathToFileURL(path.resolve(import.meta.dirname, "../../../sdk/src"));

/** Writes a module for Node's `--import` with which a program finds the library as an application that has installed it. */
export function libraryHooks(directory: string): string {
  const file = path.join(directory, "library.mjs");
  writeFileSync(
    file,
    `import { registerHooks } from "node:module";
     const files = { "taffrail/node": "${LIBRARY}/node/index.ts",
                     "#runtime": "${LIBRARY}/runtime/node.ts",
                     "#names": "${LIBRARY}/names.ts" };
     registerHooks({
       resolve: (name, context, next) =>
         files[name] ? { url: files[name], shortCircuit: true } : next(name, context),
     });`,
  );
  return file;
}
