import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { isError } from "../safe.ts";

/** Characters of a line of source that is shown; bundles have longer ones. */
const MAX_LINE = 500;
/** A frame of a stack that is in a file, which frames of the platform are not. */
const FRAME = /^ +at (?:.*\()?((?:file:\/\/)?\/[^()\n]+|[A-Z]:[^()\n]+):(\d+):(\d+)\)?$/m;

/** What Node prints of an error that ends the process: the line of source it comes from, the error, the version. */
export function uncaughtReport(error: unknown): string {
  const { bun, node } = process.versions;
  const shown = isError(error) ? inspect(error) : `Uncaught:\n${inspect(error)}`;
  return `${sourceOf(error)}${shown}\n\n${bun ? `Bun v${bun}` : `Node.js v${node}`}\n`;
}

/** Nothing where the source cannot be read. */
function sourceOf(error: unknown): string {
  if (!isError(error)) return "";
  try {
    const { stack = "", message } = error;
    // A message may have lines that look like frames.
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
