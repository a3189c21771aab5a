import { randomFillSync } from "node:crypto";
import { existsSync, rmSync, statfsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "./failure.ts";

/** Milliseconds between two measurements. */
const EVERY_MS = 1000;
/** Bytes that the ballast is written in at a time. */
const CHUNK_BYTES = 1024 * 1024;

/** Bytes below which a start fails whatever it tries: migrations and objects make files of some pages each. */
const NOTHING_BYTES = 2 * 1024 * 1024;

export type Disk = "ok" | "low";

/**
 * Watches the space on the disk that holds the data, and keeps a ballast there: a file of a quarter of `minFree`, which is
 * deleted when the disk is full all the same, because another program filled it. Then reading goes on, whose counters need
 * some room. It is made again once its room is there beyond `minFree`.
 */
export class DiskWatch {
  readonly #dataDir: string;
  readonly #minFree: number;
  readonly #ballast: string;
  readonly #ballastBytes: number;
  #timer: NodeJS.Timeout | null = null;
  #isMaking = false;

  constructor(dataDir: string, minFree: number) {
    this.#dataDir = dataDir;
    this.#minFree = minFree;
    this.#ballast = path.join(dataDir, "ballast");
    this.#ballastBytes = Math.floor(minFree / 4);
  }

  /** In words for whoever starts the service, where there is so little left that nothing can be written; else null. */
  get fullness(): string | null {
    const free = this.#free();
    if (free >= NOTHING_BYTES) return null;
    return `The disk of DATA_DIR ${this.#dataDir} is full (${free} bytes free), so the service cannot start. Free some space.`;
  }

  /** To be called before anything is written: a start needs room, too. */
  makeRoom(): void {
    if (existsSync(this.#dataDir) && this.#free() < this.#minFree) this.#dropBallast();
  }

  /**
   * Measures now and every second until `stop`.
   * @param report gets each result
   */
  start(report: (disk: Disk) => void): void {
    if (this.#minFree === 0) return;
    const measure = () => {
      const free = this.#free();
      // An eighth is left: the ballast is for the time after that.
      if (free < this.#minFree / 8) this.#dropBallast();
      else if (free >= this.#minFree + this.#ballastBytes) void this.#makeBallast();
      report(free < this.#minFree ? "low" : "ok");
    };
    measure();
    this.#timer = setInterval(measure, EVERY_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Bytes free for this user. A disk that cannot be measured is not known to have room. */
  #free(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#dataDir);
      return bavail * bsize;
    } catch {
      return 0;
    }
  }

  #dropBallast(): void {
    rmSync(this.#ballast, { force: true });
  }

  get #hasBallast(): boolean {
    try {
      return statSync(this.#ballast).size >= this.#ballastBytes;
    } catch {
      return false;
    }
  }

  /** Of random bytes, which no file system stores in less room. */
  async #makeBallast(): Promise<void> {
    if (this.#isMaking || this.#hasBallast) return;
    this.#isMaking = true;
    const temporary = `${this.#ballast}.new`;
    try {
      const file = await open(temporary, "w", 0o600);
      try {
        const chunk = randomFillSync(new Uint8Array(Math.min(CHUNK_BYTES, this.#ballastBytes)));
        for (let left = this.#ballastBytes; left > 0; left -= chunk.length) {
          await file.write(chunk, 0, Math.min(left, chunk.length));
        }
      } finally {
        await file.close();
      }
      await rename(temporary, this.#ballast);
    } catch (error) {
      await rm(temporary, { force: true });
      if (!hasCode(error, "ENOSPC")) console.error(`The ballast in DATA_DIR cannot be made: ${String(error)}`);
    } finally {
      this.#isMaking = false;
    }
  }
}
