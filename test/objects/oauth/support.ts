import { env } from "cloudflare:workers";
import {
  type ArrivalPorts,
  type ProviderSignIn,
  resolveProviderSignIn,
} from "../../../src/accounts/oauth/identities.ts";
import type { ProviderName, ProviderProfile } from "../../../src/accounts/oauth/provider.ts";
import { newId } from "../../../src/ids.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { arrivalPorts } from "../../../src/routes/auth/oauth-flow.ts";
import { userStub } from "../accounts/support.ts";

/** The real steps, on the real objects and the real directory. */
export function realPorts(): ArrivalPorts {
  return arrivalPorts({ ...env }, newAlarmOrigin());
}

let people = 0;

/** A new user of a provider, by default with a verified address. */
export function visitor(more: Partial<ProviderProfile> = {}): ProviderProfile {
  const number = ++people;
  return { provider: "provider_a", subject: `${number}`, email: `visitor-${number}@example.com`, name: null, ...more };
}

export type Arrived = Extract<ProviderSignIn, { ok: true }>;

/** Signs in through the real steps or through others. Fails the test if refused. */
export async function arrived(profile: ProviderProfile, ports = realPorts()): Promise<Arrived> {
  const arrival = await resolveProviderSignIn(ports, profile);
  if (!arrival.ok) throw new Error(arrival.reason);
  return arrival;
}

/** Creates a session of an account. Fails if the epoch is outdated. */
export async function sessionOf(userId: string, epoch: number, method: ProviderName = "provider_a"): Promise<string> {
  const id = newId("fam");
  const opened = await userStub(userId).createSession({ id, epoch, method, userAgent: null, ip: "192.0.2.1" });
  if (!opened.ok) throw new Error(opened.reason);
  return id;
}

/** The authority of a link that such a session has begun. */
export async function sessionAuthority(userId: string, epoch: number) {
  return { by: "session", sessionId: await sessionOf(userId, epoch), checkedEpoch: epoch } as const;
}

export async function identityRows(userId: string): Promise<{ provider: string; subject: string }[]> {
  const find = "SELECT provider, subject FROM oauth_identities WHERE user_id = ? ORDER BY provider, subject";
  return (await env.DB.prepare(find).bind(userId).all<{ provider: string; subject: string }>()).results;
}

export async function accountsOf(email: string): Promise<string[]> {
  const rows = await env.DB.prepare("SELECT id FROM users WHERE email = ?").bind(email).all<{ id: string }>();
  return rows.results.map(({ id }) => id);
}

/** Kills the process before or after one step; what it wrote until then stays. */
export function crashing<P extends object, K extends keyof P & string>(ports: P, step: K, when: "before" | "after"): P {
  const run = ports[step];
  if (typeof run !== "function") throw new Error(`${step} is no step`);
  const crash = async (...parameters: unknown[]): Promise<never> => {
    if (when === "after") await run.apply(ports, parameters);
    throw new Error("killed");
  };
  return { ...ports, [step]: crash };
}
