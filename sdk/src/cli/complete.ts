import { ALERT_ACTIONS } from "./alerts/command.ts";
import { post } from "./api.ts";
import { parseCommand } from "./args.ts";
import type { CompleteCommand } from "./commands.ts";
import { inserted, wordsOf } from "./completion.ts";
import { EXIT } from "./failure.ts";
import { HELP } from "./help.ts";
import { type Io, writeLine } from "./io.ts";
import { record } from "./record.ts";

/** Milliseconds after which a completion is given up: someone waits for the key that was pressed. */
const PATIENCE_MS = 1500;
/** Completions that are printed. */
const MOST = 40;

/** Prints the completions of a command line, one a line. Prints nothing if there are none, or if the service does not answer. */
export async function complete(io: Io, { shell, line, env }: CompleteCommand): Promise<number> {
  const words = wordsOf(line).slice(1);
  const typed = words.at(-1);
  if (typed === undefined) return EXIT.ok;
  const [command = ""] = words.map(({ text }) => text);
  const texts = await completions(
    io,
    command,
    words.map(({ text }) => text),
    env,
  );
  // A line break would end a completion within its quotes, and others would reach the terminal.
  const printable = texts.filter((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text));
  for (const text of inserted(shell, typed, printable.slice(0, MOST))) await writeLine(io, text);
  return EXIT.ok;
}

async function completions(
  io: Io,
  command: string,
  words: readonly string[],
  env: CompleteCommand["env"],
): Promise<string[]> {
  const typed = words.at(-1) ?? "";
  const starts = (names: readonly string[]) => names.filter((name) => name.startsWith(typed));
  const names = Object.keys(HELP).filter((name) => name !== "");
  if (words.length === 1) return starts(names);
  if (typed.startsWith("--") || !Object.hasOwn(HELP, command)) return starts(optionsOf(command));
  if (command === "alerts" && words.length === 2) return starts(ALERT_ACTIONS);
  const isQuery = ["search", "tail", "query", "stats"].includes(command);
  return isQuery ? queries(io, [...words.slice(0, -1)], typed, env) : [];
}

/** The options that the help of a command names. */
function optionsOf(command: string): string[] {
  return [...new Set(HELP[command]?.match(/--[a-z][a-z-]*/g))].sort();
}

/** Asks the service how a query may continue. */
async function queries(io: Io, before: string[], typed: string, env: CompleteCommand["env"]): Promise<string[]> {
  try {
    const command = parseCommand([...before.slice(0, 1), ...before.slice(1).filter(isOption), typed || "*"], {
      env,
      isTerminal: false,
      now: io.now(),
    });
    if (!("service" in command) || !("project" in command)) return [];
    const { service, project } = command;
    const body = { query: typed, position: typed.length, ...(project === null ? {} : { projectId: project }) };
    const answer = await post(service, {
      path: "/logger/search/suggest",
      body: JSON.stringify(body),
      timeoutMs: PATIENCE_MS,
      signal: io.stop,
    });
    const data = answer.kind === "ok" ? record(answer.data) : null;
    const [start, items] = [data?.start, data?.items];
    if (typeof start !== "number" || !Array.isArray(items)) return [];
    return items.map((item) => typed.slice(0, start) + String(record(item)?.text));
  } catch {
    // An incomplete command line has no completions.
    return [];
  }
}

/** Only options that name the service, because others may be incomplete. */
function isOption(word: string, at: number, words: readonly string[]): boolean {
  const service = ["--url", "--key", "--project"];
  return service.some((name) => word === name || word.startsWith(`${name}=`)) || service.includes(words[at - 1] ?? "");
}
