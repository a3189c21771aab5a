import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../scripts/lib/paths.ts";
import { temporaryDir } from "../../support/server.ts";
import type { Random } from "../random.ts";
import { bundleVariant, type FaultServer } from "../server.ts";
import type { Clock } from "./clock.ts";

const run = promisify(execFile);

/**
 * Milliseconds by which the clock moves on at a kill. Commits whose order was not answered have moved it, too, mostly by less. If
 * not, the clock is set back, which must not matter, but to a version from before alerts: it takes the time as it is.
 */
const KILLED_MS = 200_000;
const KILLED_BEFORE_MS = 1_800_000;

const DIRECTORY = path.join("test", "faults", "worker", "alerts");

/** A bundle of the service variant. */
export interface Version {
  bundle: string;
  /** Whether it has alerts. */
  hasAlerts: boolean;
}

/**
 * Bundles this version, one like it without matcher objects, and an earlier revision of the repository, if one is given.
 * @param before a revision as `git` takes it, from before alerts
 */
export async function bundleVersions(before: string | null): Promise<[Version, ...Version[]]> {
  const today: [Version, ...Version[]] = [
    { bundle: await bundleVariant(path.join(DIRECTORY, "worker.ts")), hasAlerts: true },
    { bundle: await bundleVariant(path.join(DIRECTORY, "worker-b.ts")), hasAlerts: true },
  ];
  return before === null ? today : [...today, { bundle: await bundleRevision(before), hasAlerts: false }];
}

/** Bundles the variant with the sources of another revision: what it imports must exist there. */
async function bundleRevision(revision: string): Promise<string> {
  const root = temporaryDir();
  const archive = path.join(root, "sources.tar");
  await run("git", ["archive", "--output", archive, revision], { cwd: ROOT });
  await run("tar", ["-xf", archive, "-C", root]);
  // The harness serves today's pages.
  mkdirSync(path.join(root, "dist", "assets"), { recursive: true });
  symlinkSync(path.join(ROOT, "node_modules"), path.join(root, "node_modules"));
  for (const file of [DIRECTORY, path.join("test", "faults", "alerts"), path.join("test", "faults", "random.ts")])
    cpSync(path.join(ROOT, file), path.join(root, file), { recursive: true });
  return bundleVariant(path.join(DIRECTORY, "worker-before.ts"), root);
}

/** The version that runs. Each kill is followed by another one. */
export class Versions {
  readonly #server: FaultServer;
  readonly #all: readonly Version[];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #note: (name: string) => void;
  #current: number;

  constructor(
    server: FaultServer,
    all: readonly Version[],
    current: number,
    clock: Clock,
    random: Random,
    note: (name: string) => void,
  ) {
    this.#server = server;
    this.#all = all;
    this.#current = current;
    this.#clock = clock;
    this.#random = random;
    this.#note = note;
  }

  /** Whether the running version has alerts. */
  get hasAlerts(): boolean {
    return this.#all[this.#current]?.hasAlerts ?? false;
  }

  /** Kills the server and starts another version on its data. */
  async killAndChange(): Promise<void> {
    await this.#server.kill9();
    this.#current = (this.#current + this.#random.int(1, this.#all.length - 1)) % this.#all.length;
    await this.#server.restart(this.#current);
    this.#note("kills");
    if (!this.hasAlerts) this.#note("starts of the version before");
    await this.#clock.forward(this.hasAlerts ? KILLED_MS : KILLED_BEFORE_MS);
  }
}
