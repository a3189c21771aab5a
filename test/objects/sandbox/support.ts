import { createScheduledController, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { z } from "zod";
import { queryPageSchema } from "../../../src/logs/entry-view.ts";
import { nextReset, RESET_EVERY_MS, SANDBOX_WORKSPACE_ID } from "../../../src/sandbox/sandbox.ts";
import worker from "../../../src/worker.ts";
import { type Answer, bearer, type Call, call } from "../accounts/support.ts";

export const HOUR_MS = 3_600_000;

/**
 * An hour past a reset's time, far ahead of the machine's clock, so that no alarm of a test runs unless the test runs
 * it.
 */
export const BASE = nextReset(Date.now() + 4 * RESET_EVERY_MS) + HOUR_MS;

const shape = z.strictObject({
  workspaceId: z.literal(SANDBOX_WORKSPACE_ID),
  projectId: z.string().regex(/^proj_[0-9A-Za-z]{12}$/),
  apiKey: z.string().regex(/^sk_demo_[0-9A-Za-z]{48}$/),
  limits: z.strictObject({ logsPerHour: z.literal(100), queriesPerHour: z.literal(20) }),
  resetsAt: z.iso.datetime(),
});

/** The project of each key used so far. */
const projects = new Map<string, string>();

export async function sandbox(): Promise<z.output<typeof shape>> {
  const answer = await call("/sandbox");
  expect([answer.status, answer.code]).toEqual([200, null]);
  const access = shape.parse(answer.data);
  projects.set(access.apiKey, access.projectId);
  return access;
}

export async function demoKey(): Promise<string> {
  return (await sandbox()).apiKey;
}

let addresses = 0;
/** An unused client IP. */
export function freshIp(): string {
  return `198.51.100.${++addresses}`;
}

export function from(ip: string): Record<string, string> {
  return { "CF-Connecting-IP": ip };
}

export function send(key: string, ip: string, body: unknown, options: Call = {}): Promise<Answer> {
  const headers = { ...bearer(key), ...from(ip), ...options.headers };
  return call(`/logger/${projects.get(key)}/log`, { body, ...options, headers });
}

export function query(key: string, ip: string, body: unknown = {}): Promise<Answer> {
  return call("/logger/query", { body, headers: { ...bearer(key), ...from(ip) } });
}

export function pageOf(answer: Answer): z.output<typeof queryPageSchema> {
  expect([answer.status, answer.code]).toEqual([200, null]);
  return queryPageSchema.strict().parse(answer.data);
}

export const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

/** The rest of a budget before this call, measured by a request that spends one unit. */
export async function left(key: string, ip: string, budget: "entries" | "reads"): Promise<number> {
  return remaining(budget === "reads" ? await query(key, ip) : await send(key, ip, { message: "one" })) + 1;
}

/** Runs the cron trigger of a time. */
export function cron(scheduledTime: number): Promise<void> {
  return worker.scheduled(createScheduledController({ scheduledTime, cron: "0 */6 * * *" }), { ...env });
}

export function stub() {
  return env.WORKSPACES.get(env.WORKSPACES.idFromName(SANDBOX_WORKSPACE_ID));
}

export function addressStub(ip: string) {
  return env.ADDRESSES.get(env.ADDRESSES.idFromName(`ip:${ip}`));
}

export function evict(): Promise<void> {
  return evictDurableObject(stub());
}
