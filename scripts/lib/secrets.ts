import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { hasCode, StartFailure } from "./failure.ts";

/** Random bytes of a new secret: the 256 bits that HS256 requires. */
const SECRET_BYTES = 32;

const secretsSchema = z.object({ JWT_SECRET: z.string(), REFRESH_PEPPER: z.string() });

export type Secrets = z.output<typeof secretsSchema>;

/**
 * The secrets of a data directory, created at its first use and stored in `secrets.json`, which only its owner can
 * read.
 * @throws StartFailure if the file exists but cannot be read, because new secrets would end every session
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

/** Written to another file, flushed and renamed, so that a crash leaves either no file or a complete one. */
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
