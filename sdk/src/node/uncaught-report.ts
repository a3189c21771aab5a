import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { isError } from "../safe.ts";

/** Characters of a source line up to which it is shown. Lines of bundles are longer. */
const MAX_LINE = 500;
/** A stack frame in a file. Frames of the platform do not match. */
const FRAME = /^ +at (?:.*\()?((?:file:\/\/)?\/[^()\n]+|[A-Z]:[^()\n]+):(\d+):(\d+)\)?$/m;

/** Returns the text that Node prints for a fatal error: the source line, the error and the version. */
export function uncaughtReport(error: unknown): string {
  const { bun, node } = process.versions;
  const shown = isError(error) ? inspect(error) : `Uncaught:\n${inspect(error)}`;
  return `${sourceOf(error)}${shown}\n\n${bun ? `Bun v${bun}` : `Node.js v${node}`}\n`;
}

/** Returns the place and source line of an error, or `""` if the source cannot be read. */
function sourceOf(error: unknown): string {
  if (!isError(error)) return "";
  try {
    const { stack = "", message } = error;
    // A message may contain lines that look like stack frames.
    const frames = stack.slice(stack.indexOf(message) + message.length);
    const [, place = "", line = "", column = ""] = FRAME.exec(frames) ?? [];
    const source = readFileSync(place.startsWith("file:") ? fileURLToPath(place) : place, "utf8").split("\n")[
      Number(line) - 1
    ];
    if (source === undefined || source.length > MAX_LINE) return "";
    return `${place}:${line}\n${source}\n${" ".repeat(Number(column) - 1)}^\n\n`;
  } catch {
    return "";
  }
}
