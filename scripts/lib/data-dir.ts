import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartFailure } from "./failure.ts";

export interface DataDirLock {
  release(): void;
}

/**
 * Makes a data directory exist and takes it for this process alone: two runtimes on the same files would each be the
 * single writer of every workspace. The lock is the operating system's own, held through a SQLite file, so that it
 * is gone with the process, kill -9 included; the file beside it with the process id is for the message only.
 * @throws StartFailure when another process has it, or it cannot be written
 */
export function takeDataDir(dataDir: string): DataDirLock {
  const pidFile = path.join(dataDir, "server.pid");
  const database = openLock(dataDir);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
  } catch {
    database.close();
    throw new StartFailure(
      `DATA_DIR ${dataDir} is in use by another server${holder(pidFile)}. Stop it, or choose another DATA_DIR.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  useOwnTemporaryDir(path.join(dataDir, "tmp"));
  return { release: () => database.close() };
}

/** A runtime that was killed leaves its temporary files behind; here the next start clears them away. */
function useOwnTemporaryDir(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  process.env.TMPDIR = directory;
}

function openLock(dataDir: string): DatabaseSync {
  try {
    makeDirectories(dataDir);
    return new DatabaseSync(path.join(dataDir, "server.lock"), { timeout: 0 });
  } catch (error) {
    throw new StartFailure(`DATA_DIR ${dataDir} cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, "utf8").trim()})`;
  } catch {
    return "";
  }
}

/** Level by level: Node's own recursion never ends below `/proc`, where nothing can be made. */
function makeDirectories(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectories(path.dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}
