import type { Context } from "hono";
import { z } from "zod";
import { findByEmail } from "../../accounts/directory.ts";
import { emailObjectName } from "../../accounts/email.ts";
import { newSeed } from "../../accounts/one-time-token.ts";
import { INVITATIONS_PER_DAY } from "../../accounts/user-quotas.ts";
import type { Confirmation } from "../../alerts/notifications/confirmations.ts";
import {
  type CreatedDestination,
  MAX_DESTINATIONS,
  type NewDestination,
  NO_MEMBER,
} from "../../alerts/notifications/destinations.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse, refuseFields, refuseTooMany } from "../../http/errors.ts";
import { optionalParameter, pageOf, pageQuery, timeCursor, timePage } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { newId } from "../../ids.ts";
import { urlProblem } from "../../platform/outbound-url.ts";
import { callAddress, callUser } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { manage, managed, workspaceGuard } from "../guards/member.ts";
import { refuseSession, verifiedUser } from "../guards/user.ts";
import { resultOf } from "../guards/workspace.ts";
import {
  answerShape,
  changeBody,
  createBody,
  createdShape,
  destinationData,
  destinationShape,
  NOTIFICATIONS_TAG,
  OVERLAP_SECONDS,
  releasedShape,
} from "./destination-shapes.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

/** Milliseconds between two mails to one address that other users can cause. */
const MAIL_EVERY_MS = 60_000;

/** The only response with a secret, so no cache may keep it. */
function createdAnswer(c: Context<AppEnv>, { destination, secret }: CreatedDestination): Response {
  const answer = success({ ...destinationData(destination), secret }, c.get("requestId"), 201);
  answer.headers.set("Cache-Control", "no-store");
  return answer;
}

function checkUrl(c: Context<AppEnv>, url: string | undefined): void {
  const problem = url === undefined ? null : urlProblem(url, c.get("settings").OUTBOUND_NETWORK);
  if (problem !== null) refuseFields([{ path: "url", code: "invalid_value", message: `${problem}.` }]);
}

async function newDestination(c: Context<AppEnv>, body: z.output<typeof createBody>): Promise<NewDestination> {
  const { kind, name } = body;
  if (kind === "email") {
    const found = await findByEmail(c.env.DB, body.email);
    const settings = found ? { email: body.email, userId: found.userId } : { email: body.email };
    return { kind, name, settings, secret: null, canary: body.canary };
  }
  checkUrl(c, body.url);
  switch (kind) {
    case "webhook":
      return { kind, name, settings: { url: body.url }, secret: null, canary: body.canary };
    case "slack":
      return { kind, name, settings: {}, secret: body.url, canary: body.canary };
    case "pagerduty":
      return {
        kind,
        name,
        settings: body.url === undefined ? {} : { url: body.url },
        secret: body.routingKey,
        canary: false,
      };
    case "alertmanager":
      return { kind, name, settings: { url: body.url }, secret: body.authorization ?? null, canary: body.canary };
  }
}

/** Counts a mail that asks a stranger for a confirmation, like an invitation. */
async function admitConfirmation(c: Context<AppEnv>, email: string): Promise<Confirmation> {
  const { id: userId, email: inviter, name: inviterName } = await verifiedUser(c);
  const { sessionId } = c.get("user");
  const own = await callUser(c.env, userId, "replay-safe", (stub) => stub.admitInvitation(sessionId, newId("inv")));
  if (!own) return refuseSession(c);
  if (!own.admitted) {
    refuseTooMany(`At most ${INVITATIONS_PER_DAY} invitations in 24 hours by this user.`, own.retryAfter);
  }
  const name = emailObjectName(email, c.get("settings").REFRESH_PEPPER);
  const isMailed = await callAddress(c.env, name, "once", (stub) => stub.admitInvite());
  if (!isMailed) refuseTooMany("At most one mail a minute and five an hour to one address.", MAIL_EVERY_MS);
  return { seed: newSeed(), inviter, inviterName };
}

function idOf(c: Context<AppEnv>): string {
  return c.req.param("destinationId") ?? "";
}

export const destinations = resource();

destinations.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/destinations",
    operation: "destination.create",
    tag: NOTIFICATIONS_TAG,
    summary: "Create a destination",
    description: [
      `A workspace has at most ${MAX_DESTINATIONS} destinations, with different names (409). Webhooks are signed as Standard Webhooks specifies; the`,
      "signing secret is only returned in this response. Mails go to members of the workspace, and to other addresses after their holder has confirmed by a",
      "mailed link (`disabledReason: unconfirmed` until then); such requests count as invitations (429). PagerDuty gets no canaries.",
    ].join("\n"),
    security: "accessToken",
    body: createBody,
    example: EXAMPLE.destination,
    status: 201,
    response: createdShape,
    errors: [...WORKSPACE_ERRORS, "EMAIL_NOT_VERIFIED", "CONFLICT"],
  },
  // First, because the directory is asked before the workspace is.
  [workspaceGuard({ action: "destination.create", from: "path", admits: "first" })],
  async (c, { body }) => {
    const destination = await newDestination(c, body);
    // Every member has confirmed an address to join or to invite; the one member who need not have is the caller.
    if (body.kind === "email") await verifiedUser(c);
    const made = await managed(c, "createDestination", destination);
    if (body.kind !== "email" || made.ok || made.message !== NO_MEMBER.message)
      return createdAnswer(c, await resultOf(c, made));
    const confirmation = await admitConfirmation(c, body.email);
    return createdAnswer(c, await manage(c, "createDestination", { ...destination, confirmation }));
  },
);

destinations.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/destinations",
    operation: "destination.list",
    tag: NOTIFICATIONS_TAG,
    summary: "List the destinations",
    description: "In order of creation, without their secrets.",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(destinationShape),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "destination.list", from: "path" })],
  async (c, { query: { cursor, limit } }) => {
    const rows = await manage(c, "listDestinations", timeCursor(cursor), limit + 1);
    const { page, nextCursor } = timePage(rows, limit, ({ createdAt, id }) => [createdAt, id]);
    return success({ items: page.map(destinationData), nextCursor }, c.get("requestId"));
  },
);

destinations.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/destinations/:destinationId",
    operation: "destination.get",
    tag: NOTIFICATIONS_TAG,
    summary: "Get a destination",
    security: "accessToken",
    status: 200,
    response: destinationShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "destination.get", from: "path" })],
  async (c) => success(destinationData(await manage(c, "getDestination", idOf(c))), c.get("requestId")),
);

destinations.route(
  {
    method: "PATCH",
    path: "/workspaces/:workspaceId/destinations/:destinationId",
    operation: "destination.update",
    tag: NOTIFICATIONS_TAG,
    summary: "Change a destination",
    description: [
      "Members that are absent stay as they are. Of two changes of one version the second is refused (409), and so is a member that the kind of the",
      "destination does not have. `enabled: true` also enables a destination whose receiver answered 410.",
    ].join("\n"),
    security: "accessToken",
    body: changeBody,
    example: { version: 1, name: "On call, nights" },
    status: 200,
    response: destinationShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "destination.update", from: "path" })],
  async (c, { body: { version, routingKey, authorization, ...change } }) => {
    checkUrl(c, change.url);
    if (routingKey !== undefined && authorization !== undefined) {
      refuse("CONFLICT", "No kind of destination has both a routingKey and an authorization.");
    }
    const secret =
      routingKey !== undefined
        ? ({ member: "routingKey", value: routingKey } as const)
        : authorization === undefined
          ? undefined
          : ({ member: "authorization", value: authorization } as const);
    const changed = await manage(c, "changeDestination", idOf(c), { ...change, secret }, version);
    return success(destinationData(changed), c.get("requestId"));
  },
);

destinations.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId/destinations/:destinationId",
    operation: "destination.delete",
    tag: NOTIFICATIONS_TAG,
    summary: "Delete a destination",
    description: [
      "Its pending deliveries are not attempted any more. Refused (409) while alerts name it; the message names them. With `force=true` it is removed from these",
      "alerts, which get a new version and continue to count.",
    ].join("\n"),
    security: "accessToken",
    query: z.strictObject({
      force: optionalParameter(z.enum(["true", "false"]).default("false"), "`true`: also if alerts name it."),
    }),
    status: 200,
    response: z.object({ deleted: z.literal(true), alerts: z.array(releasedShape) }),
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "destination.delete", from: "path" })],
  async (c, { query: { force } }) => {
    const done = await manage(c, "deleteDestination", idOf(c), force === "true");
    return success({ deleted: true, alerts: done === true ? [] : done.alerts }, c.get("requestId"));
  },
);

destinations.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/destinations/:destinationId/rotate",
    operation: "destination.rotate",
    tag: NOTIFICATIONS_TAG,
    summary: "Rotate the signing secret of a webhook",
    description:
      "During the overlap every request has the signatures of both secrets. The new secret is only returned in this response.",
    security: "accessToken",
    body: z.strictObject({
      overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS.max).default(OVERLAP_SECONDS.default),
    }),
    example: { overlapSeconds: 3600 },
    status: 201,
    response: createdShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "destination.rotate", from: "path" })],
  async (c, { body: { overlapSeconds } }) =>
    createdAnswer(c, await manage(c, "rotateDestination", idOf(c), overlapSeconds)),
);

destinations.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/destinations/:destinationId/confirmation",
    operation: "destination.confirm-again",
    tag: NOTIFICATIONS_TAG,
    summary: "Mail the link again by which an address is confirmed",
    description: "For an address that is not confirmed yet (409). An earlier link does not work any more.",
    security: "accessToken",
    status: 200,
    response: destinationShape,
    errors: [...WORKSPACE_ERRORS, "EMAIL_NOT_VERIFIED", "CONFLICT"],
  },
  [workspaceGuard({ action: "destination.update", from: "path", admits: "first" })],
  async (c) => {
    const { settings } = await manage(c, "confirmDestination", idOf(c), null);
    const confirmation = await admitConfirmation(c, settings.email ?? "");
    const changed = await manage(c, "confirmDestination", idOf(c), confirmation);
    return success(destinationData(changed), c.get("requestId"));
  },
);

destinations.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/destinations/:destinationId/test",
    operation: "destination.test",
    tag: NOTIFICATIONS_TAG,
    summary: "Test a destination",
    description: [
      "Delivers a test now, once, and returns what the receiver answered. At most one test of a destination in 3 seconds (429). At PagerDuty an incident is",
      "opened and resolved.",
    ].join("\n"),
    security: "accessToken",
    status: 200,
    response: answerShape.extend({ delivered: z.boolean() }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "destination.test", from: "path" })],
  async (c) => {
    const { outcome, answer } = await manage(c, "testDestination", idOf(c));
    return success({ delivered: outcome === "delivered", ...answer }, c.get("requestId"));
  },
);
