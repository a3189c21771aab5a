import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Delivery } from "../transports/delivery.ts";

/** Default bytes of one spool directory, for all processes together. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Number of files that this process wrote. As a part of their names it orders the files of one millisecond. */
let files = 0;

/** Where deliveries are stored on disk, and how many bytes. */
export interface SpoolOptions {
  /**
   * Directory of the files. It must belong to the user of the process.
   * @default a directory in the system's temporary one, per user, service and project
   */
  dir?: string;
  /**
   * Bytes that the directory may hold. Deliveries that do not fit are dropped.
   * @default 67108864
   */
  maxBytes?: number;
}

/**
 * Deliveries on disk, from the end of one process to the start of the next.
 *
 * A process claims a file by renaming it to `<name>.claimed-<pid>-<instance>` while it sends the deliveries again. They
 * keep their ids, so that the service does not store them twice.
 */
export interface Spool {
  /**
   * Writes all deliveries of a queue synchronously, and ends the claims of this process, whose deliveries are among
   * them.
   * @returns whether they are on disk
   */
  save(deliveries: readonly Delivery[]): boolean;
  /** Writes one delivery in addition to the stored and claimed ones. @returns whether it is on disk */
  add(delivery: Delivery): boolean;
  /** Claims the next file that no other process has claimed; `undefined` if there is no such file. */
  claim(): Claim | undefined;
}

export interface Claim {
  deliveries: Delivery[];
  /** Deletes the file, after all its deliveries have ended. */
  remove(): void;
  /** Keeps the file for a later claim. */
  release(): void;
}

export function createSpool(apiUrl: string, projectId: string, options: SpoolOptions): Spool {
  const { dir = defaultDir(apiUrl, projectId), maxBytes = MAX_BYTES } = options;
  const instance = randomUUID().slice(0, 8);
  /** Claimed files, whose deliveries are in memory. */
  const mine = new Set<string>();

  function own(): void {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    // Any user can create a directory in the temporary one. In another user's directory the entries could be read.
    const { uid } = lstatSync(dir);
    if (process.getuid && uid !== process.getuid()) throw new Error(`${dir} belongs to another user.`);
  }

  /** @param isBeside whether the claimed files stay, so that their bytes count */
  function write(deliveries: readonly Delivery[], isBeside: boolean): boolean {
    own();
    const data = Buffer.concat(
      deliveries.flatMap(({ id, body, count }) => [
        Buffer.from(`${JSON.stringify({ id, count, bytes: body.length })}\n`),
        body,
      ]),
    );
    const names = readdirSync(dir).filter((name) => isBeside || !mine.has(name));
    const held = names.reduce((sum, name) => sum + sizeOf(path.join(dir, name)), 0);
    if (held + data.length > maxBytes) return false;
    const number = String(files++).padStart(9, "0");
    const file = path.join(dir, `${Date.now()}-${process.pid}-${number}-${randomUUID()}.spool`);
    // Renamed after it was written, so that no reader sees an incomplete file.
    writeFileSync(`${file}.part`, data, { mode: 0o600 });
    renameSync(`${file}.part`, file);
    return true;
  }

  return {
    add: (delivery) => write([delivery], true),
    save(deliveries) {
      if (!write(deliveries, false)) return false;
      // The new file also has the claimed deliveries that are still pending.
      for (const name of mine) rmSync(path.join(dir, name), { force: true });
      mine.clear();
      return true;
    },
    claim() {
      own();
      for (const name of readdirSync(dir).sort()) {
        const [, base = "", pid, holder] = /^(.+\.spool)(?:\.claimed-(\d+)-(\w+))?$/.exec(name) ?? [];
        if (base === "" || (pid !== undefined && (holder === instance || isAlive(Number(pid))))) continue;
        const claimed = `${base}.claimed-${process.pid}-${instance}`;
        const file = path.join(dir, claimed);
        try {
          renameSync(path.join(dir, name), file);
        } catch {
          continue; // Another process claimed it.
        }
        mine.add(claimed);
        return {
          deliveries: parse(readFileSync(file)),
          remove() {
            if (mine.delete(claimed)) rmSync(file, { force: true });
          },
          release() {
            if (mine.delete(claimed)) renameSync(file, path.join(dir, base));
          },
        };
      }
      return undefined;
    },
  };
}

function defaultDir(apiUrl: string, projectId: string): string {
  const place = createHash("sha256").update(`${apiUrl}\n${projectId}`).digest("hex").slice(0, 16);
  return path.join(tmpdir(), `taffrail-${process.getuid?.() ?? "user"}-${place}`);
}

/** In containers processes often have the same pid, so the own pid does not prove that the holder is running. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/** Stops at the first malformed delivery: a truncated file still yields its complete ones. */
function parse(data: Uint8Array): Delivery[] {
  const deliveries: Delivery[] = [];
  for (let at = 0; at < data.length; ) {
    const end = data.indexOf(10, at);
    try {
      const head: { id?: unknown; count?: unknown; bytes?: unknown } = JSON.parse(
        new TextDecoder().decode(data.subarray(at, end)),
      );
      const { id, count, bytes } = head;
      if (typeof id !== "string" || typeof count !== "number" || typeof bytes !== "number" || end < 0) break;
      if (end + 1 + bytes > data.length) break;
      deliveries.push({ id, count, body: data.slice(end + 1, end + 1 + bytes) });
      at = end + 1 + bytes;
    } catch {
      break;
    }
  }
  return deliveries;
}
