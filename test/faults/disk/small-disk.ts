import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import path from "node:path";
import { hasCode } from "../../../scripts/lib/failure.ts";
import { temporaryDir } from "../../support/server.ts";

const CHUNK = Buffer.alloc(64 * 1024, 1);

/** A small file system in memory, with a file on it that leaves as much room as a test needs. */
export class SmallDisk {
  readonly dir: string;
  readonly #fill: string;

  /** `null` if this process may not mount, which requires Linux, root and CAP_SYS_ADMIN. */
  static mount(mebibytes: number): SmallDisk | null {
    if (process.platform !== "linux") return null;
    const dir = path.join(temporaryDir(), "disk");
    mkdirSync(dir);
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=700`, "tmpfs", dir]);
    return status === 0 ? new SmallDisk(dir) : null;
  }

  private constructor(dir: string) {
    this.dir = dir;
    this.#fill = path.join(dir, "fill");
    process.on("exit", () => this.unmount());
  }

  get free(): number {
    const { bavail, bsize } = statfsSync(this.dir);
    return bavail * bsize;
  }

  /** Fills the disk except for the given number of bytes. Room that is freed meanwhile or later stays free. */
  fill(leave = 0): void {
    const file = openSync(this.#fill, "a");
    try {
      // Measured once: the service may delete its ballast while this runs.
      let room = this.free - leave;
      while (room > 0) room -= writeSync(file, CHUNK, 0, Math.min(room, CHUNK.length));
    } catch (error) {
      if (!hasCode(error, "ENOSPC")) throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Deletes what `fill` wrote. */
  clear(): void {
    const file = openSync(this.#fill, "a");
    ftruncateSync(file, 0);
    closeSync(file);
    rmSync(this.#fill);
  }

  /** May be repeated. Unmounts lazily, because a process that is ending may hold files. */
  unmount(): void {
    spawnSync("umount", ["-l", this.dir], { stdio: "ignore" });
  }
}
