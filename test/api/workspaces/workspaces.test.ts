import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Account,
  asUser,
  call,
  createKey,
  createProject,
  type Page,
  register,
  type SignedIn,
} from "../../support/api.ts";
import { nextMail, tokenIn } from "../../support/outbox.ts";
import { startServer, type TestServer } from "../../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** An account whose address is confirmed by its mail. */
async function verified(): Promise<Account> {
  const account = await register(server.url);
  const token = tokenIn(await nextMail(server.url, account.email, "verify-email"));
  expect((await call(server.url, "/auth/verify-email", { body: { token } })).status).toBe(200);
  return account;
}

const remove = (path: string, token: string, body?: object) =>
  call(server.url, path, { method: "DELETE", token, ...(body ? { body } : {}) });

test("an invitation survives kill -9, and is accepted by a user who registers afterwards", async () => {
  const owner = await verified();
  const token = owner.accessToken;
  const made = await call<{ id: string; slug: string }>(server.url, "/workspaces", {
    token,
    body: { name: "Night shift" },
  });
  expect([made.status, made.body.data.slug]).toEqual([201, "night-shift"]);
  const id = made.body.data.id;
  const email = `guest-${Date.now()}@example.com`;
  const invited = await call(server.url, `/workspaces/${id}/members`, { token, body: { email, role: "admin" } });
  expect(invited.status).toBe(201);
  await server.kill9();
  await server.restart();
  // The alarm enqueues the mail again half a minute after its first attempt, in case it was lost.
  const invitation = tokenIn(await nextMail(server.url, email, "invite", { withinMs: 50_000 }));
  const password = "correct horse battery";
  const { body } = await call<SignedIn>(server.url, "/auth/register", { body: { email, password } });
  const guest = { ...owner, email, password, userId: body.data.user.id, accessToken: body.data.accessToken };
  const verification = tokenIn(await nextMail(server.url, email, "verify-email"));
  await call(server.url, "/auth/verify-email", { body: { token: verification } });
  const accept = { token: guest.accessToken, body: { token: invitation } };
  const joined = await call<{ role: string }>(server.url, "/invitations/accept", accept);
  expect([joined.status, joined.body.data.role]).toEqual([200, "admin"]);
  expect((await call(server.url, "/invitations/accept", accept)).body.error.code).toBe("INVALID_TOKEN");

  // The guest's keys are revoked with the guest's account, also through kill -9 right after the response.
  const projectId = await createProject(server.url, { ...guest, workspaceId: id });
  const key = await createKey(server.url, { ...guest, workspaceId: id }, projectId);
  const send = () => call(server.url, `/logger/${projectId}/log`, { token: key.secret, body: { message: "m" } });
  expect((await send()).status).toBe(201);
  expect((await remove("/auth/me", guest.accessToken, { password })).status).toBe(200);
  await server.kill9();
  await server.restart();
  expect((await send()).body.error.code).toBe("API_KEY_REVOKED");
  expect((await call(server.url, "/auth/me", { token: guest.accessToken })).body.error.code).toBe("SESSION_REVOKED");
  const members = await call<Page<{ email: string }>>(server.url, `/workspaces/${id}/members`, { token });
  expect(members.body.data.items.map(({ email }) => email)).toEqual([owner.email]);
  expect((await call(server.url, "/auth/register", { body: { email, password } })).status).toBe(201);
}, 120_000);

test("a deleted workspace stays deleted through kill -9, and its slug is free", async () => {
  const owner = await verified();
  const body = { name: "x", slug: `gone-${Date.now()}` };
  const made = await call<{ id: string; slug: string }>(server.url, "/workspaces", { token: owner.accessToken, body });
  const workspaceId = made.body.data.id;
  const projectId = await createProject(server.url, { ...owner, workspaceId });
  const key = await createKey(server.url, { ...owner, workspaceId }, projectId);
  const send = () => call(server.url, `/logger/${projectId}/log`, { token: key.secret, body: { message: "m" } });
  expect((await send()).status).toBe(201);
  expect((await remove(`/workspaces/${workspaceId}`, owner.accessToken)).status).toBe(200);
  await server.kill9();
  await server.restart();
  expect((await send()).body.error.code).toBe("INVALID_API_KEY");
  const { status } = await call(server.url, "/projects", { ...asUser(owner), workspaceId });
  expect(status).toBe(404);
  expect((await call(server.url, "/workspaces", { token: owner.accessToken, body })).status).toBe(201);
});
