import { Worker } from "node:worker_threads";
import { register } from "../../support/api.ts";
import { Random } from "../random.ts";
import { FaultServer } from "../server.ts";
import { Clock } from "./clock.ts";
import type { Evidence, Verdict } from "./evidence.ts";
import { Receivers } from "./receivers.ts";
import type { Stage } from "./stage.ts";
import { bundleVersions, Versions } from "./versions.ts";
import { WorkspaceRun } from "./workspace.ts";

export interface AlertFaultOptions {
  commits: number;
  seed: number;
  /** A revision of the repository whose service takes turns with this one; `null`: none. */
  before: string | null;
  report: (line: string) => void;
}

/** Commits of one workspace at most: a check holds its entries in memory. */
const WORKSPACE_COMMITS = 250_000;
/** MiB of the heap of a check. */
const CHECK_MIB = 8192;
const SETTINGS = {
  ...{ AUTH_LIMIT: "1000000", LOG_LEVEL: "error", OUTBOUND_NETWORK: "loopback" },
  // Most entries are in the cold tier soon, by the clock that moves.
  ...{ RECENT_MAX_AGE_SECONDS: "600", RECENT_MAX_BYTES: "4000000" },
};

/**
 * Plays commits, kills, repeated alarms and changes of the version, in one workspace after the other, and checks what was
 * decided and delivered.
 * @returns numbers for a summary
 */
export async function runAlertFaults(options: AlertFaultOptions): Promise<Record<string, number>> {
  const { commits, seed, before, report } = options;
  const figures: Record<string, number> = { "ordered commits": 0, kills: 0, "ended objects": 0, "alarms at once": 0 };
  const note = (name: string, more = 1) => {
    figures[name] = (figures[name] ?? 0) + more;
  };
  const versions = await bundleVersions(before);
  const bundles = versions.map(({ bundle }) => bundle);
  // The data are those of the earliest version.
  const first = versions.length - 1;
  const server = await FaultServer.startVersions(bundles, SETTINGS, { version: before === null ? 0 : first });
  const receivers = await Receivers.start();
  const random = new Random(seed);
  const clock = new Clock(server);
  const running = new Versions(server, versions, before === null ? 0 : first, clock, random, note);
  const stage: Stage = { server, clock, versions: running, receivers, problems: receivers.bad, report, note };
  const checks: Promise<Verdict>[] = [];
  try {
    for (let left = commits; left > 0; ) {
      const count = Math.min(left, WORKSPACE_COMMITS);
      left -= count;
      const evidence = await new WorkspaceRun(stage, await register(server.url), random).play(count);
      report(`${commits - left} commits are made, ${figures.kills} kills`);
      const check = checkBeside(evidence);
      const checked = ({ figures: { entries, decisions }, problems }: Verdict) =>
        report(`checked: ${entries} entries, ${decisions} decisions, ${problems.length} problems`);
      // A failed one is awaited later.
      check.then(checked, () => {});
      checks.push(check);
    }
    report("checking");
    for (const verdict of await Promise.all(checks)) {
      for (const [name, count] of Object.entries(verdict.figures)) note(name, count);
      for (const line of verdict.rules) report(line);
      stage.problems.push(...verdict.problems);
    }
    if (stage.problems.length > 0) throw new Error(stage.problems.slice(0, 40).join("\n"));
    return figures;
  } catch (error) {
    report(server.output.slice(-20).join("\n"));
    throw error;
  } finally {
    receivers.stop();
    await server.stop();
  }
}

/** Checks a workspace in a thread of its own, while the next one is played. */
function checkBeside(evidence: Evidence): Promise<Verdict> {
  const thread = new Worker(new URL("check-thread.ts", import.meta.url), {
    workerData: evidence,
    resourceLimits: { maxOldGenerationSizeMb: CHECK_MIB },
  });
  return new Promise((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", (code) => reject(new Error(`The check has ended with ${code}.`)));
  });
}
