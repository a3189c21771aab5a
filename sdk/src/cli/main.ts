import { readFileSync } from "node:fs";
import { keyFrom } from "./access.ts";
import { parseCommand } from "./args.ts";
import { audit } from "./audit.ts";
import type { Command } from "./commands.ts";
import { complete } from "./complete.ts";
import { scriptOf } from "./completion.ts";
import { exportLogs } from "./export.ts";
import { EXIT, Failure, withoutSecrets } from "./failure.ts";
import { HELP } from "./help.ts";
import { type Io, notice, writeLine } from "./io.ts";
import { ledger } from "./ledger.ts";
import { mcp } from "./mcp.ts";
import { query } from "./query.ts";
import { search } from "./search.ts";
import { send } from "./send.ts";
import { stats } from "./stats.ts";
import { tail } from "./tail.ts";

/** Credentials of the command line, and the variables that are safer. */
const CREDENTIALS = { key: ["a key", "TAFFRAIL_API_KEY"], token: ["a token", "TAFFRAIL_ACCESS_TOKEN"] } as const;

/** Runs a command line. @returns the exit code */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let key = keyFrom(io.env) || io.env.TAFFRAIL_ACCESS_TOKEN || "";
  try {
    const isTerminal = io.stdout.isTTY === true;
    const command = parseCommand(argv, { env: io.env, isTerminal, now: io.now() });
    if ("service" in command) {
      key = command.service.key;
      if (command.isKeyVisible && io.stderr.isTTY) {
        const isToken = "workspace" in command && command.workspace !== null;
        const [what, setting] = CREDENTIALS[isToken ? "token" : "key"];
        notice(io, `Note: ${what} on the command line can be seen by other users of this machine; ${setting} cannot.`);
      }
    }
    return await execute(command, io);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    notice(io, withoutSecrets(`taffrail: ${error.message}`, key));
    return error.code;
  }
}

async function execute(command: Command, io: Io): Promise<number> {
  switch (command.name) {
    case "help":
      await writeLine(io, HELP[command.of] ?? "");
      return EXIT.ok;
    case "version":
      await writeLine(io, version());
      return EXIT.ok;
    case "tail":
      return tail(io, command);
    case "query":
      return query(io, command);
    case "search":
      return search(io, command);
    case "completion":
      await writeLine(io, scriptOf(command.shell));
      return EXIT.ok;
    case "complete":
      return complete(io, command);
    case "stats":
      return stats(io, command);
    case "send":
      return send(io, command);
    case "export":
      return exportLogs(io, command);
    case "alerts":
      // Loaded when it is needed, because it brings a reader of YAML.
      return (await import("./alerts/run.ts")).alerts(io, command);
    case "audit":
      return audit(io, command);
    case "ledger":
      return ledger(io, command);
    case "mcp":
      return mcp(io, command);
  }
}

/**
 * Returns the version of the package, whose manifest is two directories above both the source and the published file.
 */
function version(): string {
  const manifest: { version?: unknown } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return String(manifest.version);
}
