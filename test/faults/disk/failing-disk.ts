import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryDir } from "../../support/server.ts";

const SOURCE = path.join(import.meta.dirname, "failing-disk.c");

/** A disk that fails on demand, for a server that is started with its `env`. */
export class FailingDisk {
  readonly env: Readonly<Record<string, string>>;
  readonly #switch: string;

  /** `null` if the system is not Linux or has no C compiler. */
  static compile(): FailingDisk | null {
    if (process.platform !== "linux") return null;
    const dir = temporaryDir();
    const library = path.join(dir, "failing-disk.so");
    const { status } = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"], { stdio: "ignore" });
    return status === 0 ? new FailingDisk(library, path.join(dir, "fails")) : null;
  }

  private constructor(library: string, file: string) {
    this.#switch = file;
    // The directory in which objects and D1 store their databases.
    this.env = { LD_PRELOAD: library, FAILING_DISK_SWITCH: file, FAILING_DISK_PATH: "/v3/" };
  }

  /** Makes writes, writes and reads, or reads of a database after its first page fail with EIO. */
  fail(what: "writes" | "all" | "pages"): void {
    writeFileSync(this.#switch, { writes: "w", all: "r", pages: "p" }[what]);
  }

  mend(): void {
    rmSync(this.#switch, { force: true });
  }
}
