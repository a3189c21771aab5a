import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Delivery } from "../transports/delivery.ts";

/** Bytes that may lie in one directory, of all processes together. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Files that this process wrote: names of one millisecond sort in the order in which they were made. */
let files = 0;

export interface SpoolOptions {
  /** Default: a directory of this user's in the system's temporary one, per service and project. */
  dir?: string;
  /** Bytes the directory may hold, default 64 MiB. What does not fit is dropped. */
  maxBytes?: number;
}

/**
 * Deliveries on disk, from the end of one process to the start of the next. A file belongs to who renames it: to
 * `<name>.claimed-<pid>-<instance>` while its deliveries are sent again, under the ids they had, so that what the
 * service already stored is not stored twice.
 */
export interface Spool {
  /** Writes all that a queue holds at once, synchronously; claims are over with it. @returns whether it is on disk */
  save(deliveries: readonly Delivery[]): boolean;
  /** Writes one delivery beside what is there and claimed. @returns whether it is on disk */
  add(delivery: Delivery): boolean;
  /** Claims the next file that nobody else has; `undefined` if there is none. */
  claim(): Claim | undefined;
}

export interface Claim {
  deliveries: Delivery[];
  /** All of it has been delivered. */
  remove(): void;
  /** For the next start. */
  release(): void;
}

export function createSpool(apiUrl: string, projectId: string, options: SpoolOptions): Spool {
  const { dir = defaultDir(apiUrl, projectId), maxBytes = MAX_BYTES } = options;
  const instance = randomUUID().slice(0, 8);
  /** Files whose deliveries are in memory now. */
  const mine = new Set<string>();

  function own(): void {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    // A temporary directory is everybody's: another user's directory of this name could be read, or be a trap.
    const { uid } = lstatSync(dir);
    if (process.getuid && uid !== process.getuid()) throw new Error(`${dir} belongs to another user.`);
  }

  /** @param isBeside claimed files stay, so they count */
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
    // Complete under its name, or not there at all.
    writeFileSync(`${file}.part`, data, { mode: 0o600 });
    renameSync(`${file}.part`, file);
    return true;
  }

  return {
    add: (delivery) => write([delivery], true),
    save(deliveries) {
      if (!write(deliveries, false)) return false;
      // What was claimed and is not delivered yet is in the new file too.
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
          continue; // Another process was faster.
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

/** In a container every process may have the same number, so one's own says nothing about an older holder. */
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

/** Stops at the first thing that is no delivery: a file that was cut short keeps what it has whole. */
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
