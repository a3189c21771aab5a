import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  beginFlow,
  type FlowRecord,
  hashOf,
  issueExchangeCode,
  issueLinkCode,
  randomSecret,
  takeExchangeCode,
  takeFlow,
  takeLinkCode,
} from "../../../src/accounts/oauth/flows.ts";
import { newId } from "../../../src/ids.ts";
import { userStub } from "../accounts/support.ts";
import { arrived, visitor } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const MINUTE_MS = 60_000;

const flow: FlowRecord = {
  provider: "provider_a",
  purpose: { mode: "tokens" },
  verifier: randomSecret(),
  nonce: randomSecret(),
  browserHash: hashOf(randomSecret()),
};

const signIn = {
  userId: "usr_000000000000",
  epoch: 0,
  provider: "provider_b",
  isNewUser: false,
  codeChallenge: hashOf("verifier"),
} as const;

async function count(table: string): Promise<number> {
  return Number(await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table}`).first("n"));
}

describe("O1: a state", () => {
  it("is stored hashed and returns its flow once, within 10 minutes only", async () => {
    const purposes = [
      { mode: "tokens" },
      { mode: "code", codeChallenge: hashOf("v") },
      { mode: "link", userId: "usr_x", sessionId: "fam_x", checkedEpoch: 3 },
    ] as const;
    for (const purpose of purposes) {
      const state = randomSecret();
      await beginFlow(env.DB, state, { ...flow, purpose }, 1000);
      const dump = JSON.stringify((await env.DB.prepare("SELECT * FROM oauth_flows").all()).results);
      expect(dump).not.toContain(state);
      expect(dump).toContain(hashOf(state));
      expect(await takeFlow(env.DB, state, 1000 + 10 * MINUTE_MS - 1)).toEqual({ ...flow, purpose });
      expect(await takeFlow(env.DB, state, 1000)).toBeNull();
    }
    const late = randomSecret();
    await beginFlow(env.DB, late, flow, 1000);
    expect(await takeFlow(env.DB, late, 1000 + 10 * MINUTE_MS)).toBeNull();
    expect(await takeFlow(env.DB, late, 1000)).toBeNull();
  });

  it("is returned to one of 25 parallel requests", async () => {
    const state = randomSecret();
    await beginFlow(env.DB, state, flow, 0);
    const taken = await Promise.all(Array.from({ length: 25 }, () => takeFlow(env.DB, state, 1)));
    expect(taken.filter((record) => record !== null)).toHaveLength(1);
  });

  it("is deleted after it expires: each new flow deletes expired ones", async () => {
    for (let i = 0; i < 30; i++) await beginFlow(env.DB, randomSecret(), flow, 0);
    await beginFlow(env.DB, randomSecret(), flow, 24 * 60 * MINUTE_MS);
    await beginFlow(env.DB, randomSecret(), flow, 24 * 60 * MINUTE_MS);
    expect(await count("oauth_flows")).toBe(2);
  });
});

describe("O8: a code to exchange", () => {
  it("is stored hashed and works once, for 60 seconds", async () => {
    const code = randomSecret();
    await issueExchangeCode(env.DB, code, signIn, 0);
    expect(JSON.stringify((await env.DB.prepare("SELECT * FROM oauth_exchanges").all()).results)).not.toContain(code);
    expect(await takeExchangeCode(env.DB, code, MINUTE_MS - 1)).toEqual({ ok: true, value: signIn });
    expect(await takeExchangeCode(env.DB, code, 1)).toEqual({ ok: false, reason: "unknown" });
    const late = randomSecret();
    await issueExchangeCode(env.DB, late, signIn, 0);
    expect(await takeExchangeCode(env.DB, late, MINUTE_MS)).toEqual({ ok: false, reason: "expired" });
    expect(await takeExchangeCode(env.DB, late, 1)).toEqual({ ok: false, reason: "unknown" });
  });
});

describe("O6: a code to confirm a link with", () => {
  it("is stored hashed and works once, for 60 seconds, only for its user", async () => {
    const link = { identity: { provider: "provider_a", subject: "42" }, checkedEpoch: 3 } as const;
    const code = randomSecret();
    await issueLinkCode(env.DB, code, "usr_owner", link, 0);
    expect(JSON.stringify((await env.DB.prepare("SELECT * FROM oauth_link_codes").all()).results)).not.toContain(code);
    expect(await takeLinkCode(env.DB, code, "usr_other", 1)).toEqual({ ok: false, reason: "unknown" });
    expect(await takeLinkCode(env.DB, code, "usr_owner", MINUTE_MS - 1)).toEqual({ ok: true, value: link });
    expect(await takeLinkCode(env.DB, code, "usr_owner", 1)).toEqual({ ok: false, reason: "unknown" });
    await issueLinkCode(env.DB, code, "usr_owner", link, 0);
    expect(await takeLinkCode(env.DB, code, "usr_owner", MINUTE_MS)).toEqual({ ok: false, reason: "expired" });
  });
});

describe("O8: a session whose tokens were in a URL", () => {
  it("expires 30 minutes later, unless its refresh token was rotated by then", async () => {
    const { entry, epoch } = await arrived(visitor());
    const stub = userStub(entry.userId);
    const family = { epoch, method: "provider_a", userAgent: null, ip: "192.0.2.1" } as const;
    const hasty = { ...family, id: newId("fam"), rotateWithinMs: 30 * MINUTE_MS };
    const calm = { ...family, id: newId("fam") };
    for (const each of [hasty, calm]) expect((await stub.createSession(each)).ok).toBe(true);
    const now = Date.now();
    vi.spyOn(Date, "now").mockReturnValue(now + 29 * MINUTE_MS);
    expect((await stub.authenticate(hasty.id, 0)).alive).toBe(true);
    vi.spyOn(Date, "now").mockReturnValue(now + 31 * MINUTE_MS);
    expect((await stub.authenticate(hasty.id, 0)).alive).toBe(false);
    expect((await stub.authenticate(calm.id, 0)).alive).toBe(true);
  });
});
