/**
 * Answers of wrangler's library about files of this repository.
 *
 * Loading the library takes most of a second of processor time at every start. Each answer is therefore stored below
 * dist/, under a hash of everything that it depends on, so that a stored answer is never out of date.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { ROOT } from "./paths.ts";

type Wrangler = typeof import("wrangler");

const ANSWERS_DIR = path.join(ROOT, "dist", "wrangler");

const require = createRequire(import.meta.url);

/**
 * The answer of wrangler's library, stored or new.
 * @param inputs contents of all files that the answer depends on, and other arguments
 * @param ask asks the library; what it returns must survive JSON, and its own text is part of the hash
 */
export function answerOf<Answer>(inputs: readonly string[], ask: (wrangler: Wrangler) => Answer): Answer {
  const file = path.join(ANSWERS_DIR, `${hashOf([...inputs, ask.toString()])}.json`);
  try {
    // SAFETY: the hash covers inputs and question, so the same `ask` wrote it.
    return JSON.parse(readFileSync(file, "utf8")) as Answer;
  } catch {
    // SAFETY: the package has these types.
    const answer = ask(require("wrangler") as Wrangler);
    store(file, JSON.stringify(answer));
    return answer;
  }
}

function hashOf(inputs: readonly string[]): string {
  const version = readFileSync(require.resolve("wrangler/package.json"), "utf8");
  // Answers contain absolute paths, and wrangler reads the name of an environment from this variable.
  const all = [version, ROOT, process.env.CLOUDFLARE_ENV ?? "", ...inputs];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** Without the stored answer, the next start only takes longer: a read-only or full disk is no failure. */
function store(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  try {
    mkdirSync(ANSWERS_DIR, { recursive: true });
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  } catch {}
}
