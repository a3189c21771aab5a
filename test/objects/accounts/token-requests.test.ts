import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mintOneTimeToken, newSeed } from "../../../src/accounts/one-time-token.ts";
import { USER_SCHEMA } from "../../../src/accounts/schema.ts";
import { newId } from "../../../src/ids.ts";
import { migrate } from "../../../src/platform/sql.ts";
import { deliver, mailedToken, mailsTo, requestsAnswered, rowsOf } from "./mail-support.ts";
import { call, registered, settings, userStub } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const newRequest = () => ({ purpose: "reset-password", mailId: newId("mail"), seed: newSeed() }) as const;

const reset = (token: string, password = "first new password") =>
  call("/auth/reset-password", { body: { token, password } });

describe("a request for a token that is retried after a lost answer", () => {
  it("does not make a used token valid again, nor send its mail again", async () => {
    const email = "repeated-used@example.com";
    const { user } = await registered(email);
    const request = newRequest();
    const token = mintOneTimeToken(user.id, request.seed, settings.REFRESH_PEPPER);
    await userStub(user.id).requestTokenMail(request);
    await deliver(user.id);
    expect((await reset(token)).status).toBe(200);
    await userStub(user.id).requestTokenMail(request);
    await deliver(user.id);
    expect((await reset(token, "second new password")).code).toBe("INVALID_TOKEN");
    expect(await mailsTo(email, "reset-password")).toHaveLength(1);
  });

  it("does not replace a newer token", async () => {
    const { user } = await registered("repeated-older@example.com");
    const [older, newer] = [newRequest(), newRequest()];
    for (const request of [older, newer, older]) await userStub(user.id).requestTokenMail(request);
    const tokenOf = ({ seed }: { seed: Uint8Array }) => mintOneTimeToken(user.id, seed, settings.REFRESH_PEPPER);
    expect((await reset(tokenOf(older))).code).toBe("INVALID_TOKEN");
    expect((await reset(tokenOf(newer))).status).toBe(200);
  });

  it("is stored for an hour, so that the table stays small", async () => {
    const { user } = await registered("repeated-kept@example.com");
    await userStub(user.id).requestTokenMail(newRequest());
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_001);
    await userStub(user.id).requestTokenMail(newRequest());
    expect(await rowsOf(user.id, "SELECT mail_id FROM answered_requests")).toHaveLength(1);
  });
});

it("an account from before requests were stored keeps its pending one", async () => {
  const stub = env.USERS.get(env.USERS.idFromName(newId("usr")));
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    migrate(sql, USER_SCHEMA.slice(0, 1));
    const insert = "INSERT INTO one_time_tokens (purpose, hash, address, mail_id, expires_at) VALUES (?, ?, ?, ?, ?)";
    const pending = ["reset-password", new Uint8Array(32), "pending@example.com", "mail_pending", 5] as const;
    sql.exec(insert, ...pending);
    migrate(sql, USER_SCHEMA);
    expect(sql.exec("SELECT * FROM answered_requests").toArray()).toEqual([{ mail_id: "mail_pending", expires_at: 5 }]);
    expect(sql.exec("SELECT purpose, address, expires_at FROM one_time_tokens").toArray()).toEqual([
      { purpose: "reset-password", address: "pending@example.com", expires_at: 5 },
    ]);
  });
});

it("a request over the limit changes nothing: the earlier link stays valid", async () => {
  const email = "throttled@example.com";
  await registered(email);
  await call("/auth/magic-link", { body: { email } });
  const token = await mailedToken(email, "magic-link");
  for (let i = 0; i < 5; i++) await call("/auth/magic-link", { body: { email } });
  await requestsAnswered(email);
  expect((await call("/auth/magic-link/verify", { body: { token } })).status).toBe(200);
});
