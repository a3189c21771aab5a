import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartFailure } from "./failure.ts";

export interface DataDirLock {
  release(): void;
}

/** The lock's file, which exists in every directory that a server has used. */
const LOCK_FILE = "server.lock";
/** What a separate file system has at its root. */
const FOREIGN_BUT_HARMLESS = "lost+found";

/**
 * Creates a data directory if necessary and locks it for this process, because two runtimes on the same files would
 * both act as the single writer of every workspace. The lock is the operating system's, held through a SQLite file, so
 * that it ends with the process, also after kill -9. The file with the process id is only for the message. Denies
 * access to other users of the machine, because its databases have all log entries.
 * @throws StartFailure if another process holds it, it cannot be written, or it cannot be made private
 */
export function takeDataDir(dataDir: string): DataDirLock {
  const database = openLock(dataDir);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
  } catch {
    database.close();
    throw new StartFailure(inUse(dataDir));
  }
  writeFileSync(pidFileOf(dataDir), `${process.pid}\n`);
  useOwnTemporaryDir(path.join(dataDir, "tmp"));
  return { release: () => database.close() };
}

/** The message about a data directory that a running server holds; `null` if none holds it or it does not exist. */
export function dataDirHolder(dataDir: string): string | null {
  if (!existsSync(path.join(dataDir, LOCK_FILE))) return null;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path.join(dataDir, LOCK_FILE), { timeout: 0 });
    database.exec("BEGIN IMMEDIATE; ROLLBACK");
    return null;
  } catch (error) {
    return error instanceof Error && error.message.includes("locked") ? inUse(dataDir) : null;
  } finally {
    database?.close();
  }
}

function inUse(dataDir: string): string {
  return `Taffrail is already running on DATA_DIR ${dataDir}${holder(pidFileOf(dataDir))}. Stop it, or start another one with its own directory and port: DATA_DIR=.data2 PORT=8788 npm start`;
}

function pidFileOf(dataDir: string): string {
  return path.join(dataDir, "server.pid");
}

/** A killed runtime leaves its temporary files; the next start deletes them here. */
function useOwnTemporaryDir(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  process.env.TMPDIR = directory;
}

function openLock(dataDir: string): DatabaseSync {
  try {
    makeDirectories(dataDir);
    shutOthersOut(dataDir);
    return new DatabaseSync(path.join(dataDir, LOCK_FILE), { timeout: 0 });
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(`DATA_DIR ${dataDir} cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

/** Files and databases below have the system's default modes, so the directory must deny access to other users. */
function shutOthersOut(dataDir: string): void {
  const { mode, uid } = statSync(dataDir);
  const user = process.getuid?.();
  if (user === undefined || (mode & 0o077) === 0) return;
  const open = `DATA_DIR ${dataDir} is open to other users of this machine (mode ${(mode & 0o7777).toString(8)})`;
  if (uid !== user) {
    throw new StartFailure(
      `${open} and belongs to another user. Have its owner set mode 700, or choose another DATA_DIR.`,
    );
  }
  const files = readdirSync(dataDir).filter((name) => name !== FOREIGN_BUT_HARMLESS);
  // A wrong setting must not close a directory that other programs use, such as /tmp.
  if (files.length > 0 && !files.includes(LOCK_FILE)) {
    throw new StartFailure(
      `${open} and contains files of other programs. Choose a separate directory, e.g. ${path.join(dataDir, "taffrail")}.`,
    );
  }
  chmodSync(dataDir, 0o700);
  console.log(`${open}: it has mode 700 now.`);
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, "utf8").trim()})`;
  } catch {
    return "";
  }
}

/** Creates each level separately, because Node's recursion never ends below `/proc`, where nothing can be created. */
function makeDirectories(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectories(path.dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}
