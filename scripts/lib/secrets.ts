import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { hasCode, StartFailure } from "./failure.ts";

/** Bytes of randomness in a secret made here: the 256 bits that HS256 asks for. */
const SECRET_BYTES = 32;

const secretsSchema = z.object({ JWT_SECRET: z.string(), REFRESH_PEPPER: z.string() });

export type Secrets = z.output<typeof secretsSchema>;

/**
 * The secrets of a data directory, made at its first use and kept in `secrets.json`, readable by its owner alone.
 * @throws StartFailure when the file is there but cannot be read: making new secrets would end every session
 */
export function keptSecrets(dataDir: string): Secrets {
  const file = path.join(dataDir, "secrets.json");
  const text = readIfThere(file);
  if (text === null) return makeSecrets(file);
  chmodSync(file, 0o600);
  const secrets = secretsSchema.safeParse(parseOrNull(text));
  if (secrets.success) return secrets.data;
  throw new StartFailure(
    `${file} is damaged: it must be JSON with JWT_SECRET and REFRESH_PEPPER. Restore or delete it.`,
  );
}

export function newSecrets(): Secrets {
  return { JWT_SECRET: newSecret(), REFRESH_PEPPER: newSecret() };
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** Written aside, flushed and renamed, so that a crash leaves either no file or a whole one. */
function makeSecrets(file: string): Secrets {
  const secrets = newSecrets();
  const temporary = `${file}.${process.pid}`;
  const descriptor = openSync(temporary, "w", 0o600);
  writeSync(descriptor, `${JSON.stringify(secrets, null, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(temporary, file);
  return secrets;
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw new StartFailure(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
