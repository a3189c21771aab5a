import { randomFillSync } from "node:crypto";
import { existsSync, rmSync, statfsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "./failure.ts";

/** Milliseconds between two measurements. */
const EVERY_MS = 1000;
/** Bytes of each write of the ballast. */
const CHUNK_BYTES = 1024 * 1024;

/** Bytes below which every start fails: migrations and objects create files of some pages each. */
const NOTHING_BYTES = 2 * 1024 * 1024;

export type Disk = "ok" | "low";

/**
 * Watches the free space of the disk with the data, and keeps a ballast there: a file of a quarter of `minFree`, which
 * is deleted if another program fills the disk. Reading then still works, because its counters need some space. The
 * ballast is created again once there is space for it beyond `minFree`.
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

  /** A message for the operator if too little space is left to write anything, otherwise `null`. */
  get fullness(): string | null {
    const free = this.#free();
    if (free >= NOTHING_BYTES) return null;
    return `The disk of DATA_DIR ${this.#dataDir} is full (${free} bytes free), so the service cannot start. Free some space.`;
  }

  /** Call before anything is written, because a start needs space, too. */
  makeRoom(): void {
    if (existsSync(this.#dataDir) && this.#free() < this.#minFree) this.#dropBallast();
  }

  /** Measures now and every second until `stop`. @param report receives each result */
  start(report: (disk: Disk) => void): void {
    if (this.#minFree === 0) return;
    const measure = () => {
      const free = this.#free();
      // An eighth of `minFree` is left, because the ballast is for the time after that.
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

  /** Bytes free for this user; 0 if the disk cannot be measured. */
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

  /** Random bytes, which no file system compresses. */
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
      if (!hasCode(error, "ENOSPC")) console.error(`The ballast in DATA_DIR cannot be created: ${String(error)}`);
    } finally {
      this.#isMaking = false;
    }
  }
}
