import { attempt } from "../../alerts/notifications/attempt.ts";
import { addressLink } from "../../alerts/notifications/confirmations.ts";
import {
  type DueDelivery,
  LEASE_MS,
  nextDeliveryAt,
  settle,
  takeDeliveries,
} from "../../alerts/notifications/deliveries.ts";
import type { Attempt, Target } from "../../alerts/notifications/destination.ts";
import { enqueueNotification } from "../../alerts/notifications/enqueue.ts";
import { admitMail, leftOutReported, MAILS_AN_HOUR } from "../../alerts/notifications/mail-limit.ts";
import { canaryOf, testOf } from "../../alerts/notifications/probes.ts";
import { type NotificationContent, requestOf } from "../../alerts/notifications/request.ts";
import { recordAnswer, takeCanaries } from "../../alerts/notifications/targets.ts";
import type { Env } from "../../env.ts";
import { notificationLetter } from "../../mail/notification-letter.ts";
import type { Duty } from "../../platform/alarm.ts";
import { logObjectEvent } from "../../platform/log.ts";
import { isLoopback } from "../../platform/loopback.ts";
import type { Origin } from "../../platform/origin.ts";
import { outboundOf } from "../../platform/outbound.ts";
import { urlProblem } from "../../platform/outbound-url.ts";
import { type Settings, settingsOf } from "../../settings.ts";
import { emailsOf } from "../../workspace/listing.ts";
import { roleOf } from "../../workspace/members.ts";
import type { WorkspaceState } from "../../workspace/state.ts";
import { mailerOf } from "../queues/mails.ts";

/**
 * Delivers the notifications of a workspace. The object sends by itself and waits for no receiver: an attempt runs beside
 * other requests, and its outcome is a transaction of its own. An attempt whose object ends before that is repeated, so
 * each notification arrives at least once, with the same id.
 */
export class Deliveries implements Duty {
  readonly name = "deliveries";
  readonly #env: Env;
  readonly #state: WorkspaceState;
  /** Destinations of the attempts in progress, by delivery. */
  readonly #inFlight = new Map<string, string>();
  readonly #running = new Set<Promise<void>>();

  constructor(env: Env, state: WorkspaceState) {
    this.#env = env;
    this.#state = state;
  }

  /**
   * With attempts in progress at the latest when their leases end: without an alarm, deliveries that wait for a free place
   * would wait for the next request if the object ends before the attempts do.
   */
  dueAt(now = Date.now()): number | null {
    if (this.#state.row === null) return null;
    const next = nextDeliveryAt(this.#state.sql, this.#inFlight);
    return this.#inFlight.size === 0 ? next : Math.min(next ?? Number.POSITIVE_INFINITY, now + LEASE_MS);
  }

  /** Enqueues canaries that are due, then starts attempts. */
  run(now: number, origin: Origin): void {
    const dueAt = this.dueAt(now);
    if (dueAt === null || dueAt > now) return;
    const { FRONTEND_URL } = settingsOf(this.#env);
    this.#state.transaction(({ sql }) => {
      for (const canary of takeCanaries(sql, now)) enqueueNotification(sql, canaryOf(canary, FRONTEND_URL, now), now);
    });
    this.start(now, origin);
  }

  /** Starts the attempts that are due. Call after the transaction that stored a notification. */
  start(now: number, origin: Origin): void {
    const dueAt = this.dueAt(now);
    if (dueAt === null) return;
    const due = dueAt <= now ? this.#state.transaction(({ sql }) => takeDeliveries(sql, this.#inFlight, now)) : [];
    for (const delivery of due ?? []) {
      this.#inFlight.set(delivery.id, delivery.target.id);
      const running = this.#deliver(delivery, origin).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
    const next = this.dueAt(now);
    if (next !== null) this.#state.alarm.by(Math.max(next, now));
  }

  /** Resolves when no attempt is in progress. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Delivers a test to a destination, without the outbox, and records the receiver's answer. */
  async test(target: Target, origin: Origin): Promise<Attempt> {
    const now = Date.now();
    const probe = testOf(target.name, settingsOf(this.#env).FRONTEND_URL, now);
    // An incident that a test opens is resolved with it.
    const steps = target.kind === "pagerduty" ? (["firing", "resolved"] as const) : ([probe.kind] as const);
    let result: Attempt | null = null;
    for (const kind of steps) {
      const step = await this.#attempt(target, { ...probe, kind }, null, probe.id);
      if (result === null || step.outcome !== "delivered") result = step;
      if (step.outcome !== "delivered") break;
    }
    const last = result ?? NO_WAY_OUT;
    this.#state.transaction(({ sql }) => recordAnswer(sql, target.id, last.answer, Date.now()));
    this.#log(target, probe, last, origin);
    return last;
  }

  /** Throws nothing. */
  async #deliver(delivery: DueDelivery, origin: Origin): Promise<void> {
    const { id, round, target, notification, alert } = delivery;
    try {
      const result = await this.#attempt(target, notification, alert, `${id}-${round}`);
      this.#state.transaction(({ sql }) => settle(sql, delivery, result, Date.now()));
      this.#log(target, notification, result, origin);
    } catch (error) {
      // The storage failed. The attempt is repeated at the end of its lease.
      const fault = error instanceof Error ? error.name : "unknown";
      this.#event(target, notification, "failed", origin, { fault });
    }
    this.#inFlight.delete(id);
    if (this.#state.row !== null) this.start(Date.now(), origin);
  }

  async #attempt(
    target: Target,
    notification: NotificationContent,
    alert: NotificationContent | null,
    letterId: string,
  ): Promise<Attempt> {
    const settings = settingsOf(this.#env);
    const now = Date.now();
    const request = requestOf(target, notification, alert, new URL(settings.FRONTEND_URL).host, now);
    if (request === null) return this.#mail(target, notification, letterId, settings);
    const outbound = outboundOf(this.#env, isLoopback(new URL(settings.BASE_URL)));
    if (outbound === null) return NO_WAY_OUT;
    // Settings and rules may have changed since the URL was stored.
    const problem = urlProblem(request.url, settings.OUTBOUND_NETWORK);
    if (problem !== null) return notSent("failed", `The URL ${problem}.`);
    return attempt(outbound, request, Date.now);
  }

  async #mail(
    { id, secret, settings: { userId, email } }: Target,
    notification: NotificationContent,
    letterId: string,
    settings: Settings,
  ): Promise<Attempt> {
    const { sql, row } = this.#state;
    if (userId !== undefined && roleOf(sql, userId) === null)
      return notSent("left", "The recipient is no longer a member.");
    const startedAt = Date.now();
    try {
      const address = userId === undefined ? email : (await emailsOf(this.#env.DB, [userId])).get(userId);
      if (address === undefined) return notSent("failed", "The recipient's address cannot be found.");
      const leftOut = this.#state.transaction((admission) => admitMail(admission.sql, id, startedAt));
      if (leftOut === null)
        return notSent("refused", `Left out: a destination gets at most ${MAILS_AN_HOUR} mails in an hour.`);
      const stop = userId === undefined && secret !== null && row ? addressLink(secret, row.id, settings) : null;
      const site = new URL(settings.FRONTEND_URL).host;
      const letter = notificationLetter(letterId, address, notification, site, { leftOut, stop });
      const sent = await mailerOf(this.#env).send(letter);
      const ms = Math.max(0, Date.now() - startedAt);
      if (sent.ok) {
        this.#state.transaction((admission) => leftOutReported(admission.sql, id, leftOut));
        return { outcome: "delivered", answer: { status: null, text: "", ms, error: null }, retryAfter: null };
      }
      const error = `The mail provider ${sent.reason === "refused" ? "refused the mail" : "failed"} (${sent.detail}).`;
      return { outcome: sent.reason, answer: { status: null, text: "", ms, error }, retryAfter: null };
    } catch {
      return notSent("failed", "The mail could not be sent.");
    }
  }

  #log(target: Target, notification: NotificationContent, { outcome, answer }: Attempt, origin: Origin): void {
    this.#event(target, notification, outcome === "delivered" ? "ok" : outcome, origin, {
      status: answer.status,
      durationMs: answer.ms,
    });
  }

  #event(
    { id: destinationId, kind: destination }: Target,
    { id: notificationId, kind }: NotificationContent,
    outcome: string,
    origin: Origin,
    more: Record<string, string | number | null>,
  ): void {
    const workspaceId = this.#state.row?.id;
    const whose = { workspaceId, notificationId, kind, destinationId, destination };
    const line = { event: "workspace.notify", outcome, ...whose, ...more };
    logObjectEvent(this.#env, "workspace", origin, outcome === "ok" ? "info" : "warn", line);
  }
}

function notSent(outcome: "failed" | "left" | "refused", error: string): Attempt {
  return { outcome, answer: { status: null, text: "", ms: 0, error }, retryAfter: null };
}

const NO_WAY_OUT = notSent("failed", "This server has no outbound network: `npm start` and deployments have one.");
