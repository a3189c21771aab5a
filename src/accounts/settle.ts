import { confirmAccount, readAccount } from "./account.ts";

export interface SettlePorts {
  /** Whether the directory lists this user. */
  isListed(userId: string): Promise<boolean>;
  destroyWorkspace(workspaceId: string): Promise<void>;
  /** Deletes the user object's own storage. */
  destroySelf(): Promise<void>;
  now(): number;
}

/** `null`: there was nothing to settle. `waiting`: not listed, but it may still come to be. */
export type RegistrationOutcome = "confirmed" | "discarded" | "waiting" | null;

/**
 * Decides what became of a registration that never said so: a crash may have ended it anywhere.
 * Listed: the account is as good as any. Not listed and past `resolveAt`: it never will be, so it goes, its workspace
 * first, for this object is what remembers the workspace.
 */
export async function resolveRegistration(sql: SqlStorage, ports: SettlePorts): Promise<RegistrationOutcome> {
  const account = readAccount(sql);
  if (!account || account.confirmed) return null;
  // Read before the directory is asked: only an answer from after `resolveAt` proves that nothing will follow.
  const final = ports.now() >= account.resolveAt;
  if (await ports.isListed(account.id)) {
    confirmAccount(sql);
    return "confirmed";
  }
  if (!final) return "waiting";
  await ports.destroyWorkspace(account.workspaceId);
  await ports.destroySelf();
  return "discarded";
}
