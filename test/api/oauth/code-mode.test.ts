import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVIDERS } from "../../../src/accounts/oauth/provider.ts";
import { type Answer, call, type SignedIn } from "../../support/api.ts";
import { newEmail, signInWith } from "./support/flows.ts";
import { type OAuthService, startOAuthService } from "./support/service.ts";

let service: OAuthService;
beforeAll(async () => {
  service = await startOAuthService();
});
afterAll(() => service.stop());

interface Pkce {
  verifier: string;
  query: string;
}

function pkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  return { verifier, query: `?mode=code&code_challenge=${challenge}&code_challenge_method=S256` };
}

function exchange(code: string | undefined, codeVerifier: string): Promise<Answer<SignedIn>> {
  return call(service.url, "/auth/oauth/exchange", { body: { code, codeVerifier } });
}

describe("O8: code mode", () => {
  test.each(PROVIDERS)(
    "with %s: no token in the address, and an exchange that responds like a login",
    async (provider) => {
      const { verifier, query } = pkce();
      const email = newEmail();
      const { parameters, response } = await signInWith(
        service.url,
        provider,
        { email, name: "Code Person" },
        { query },
      );
      expect(Object.keys(parameters)).toEqual(["code"]);
      expect(response.headers.get("Cache-Control")).toBe("no-store");
      const answer = await exchange(parameters.code, verifier);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
      expect(answer.body.data).toEqual({
        user: { id: expect.stringMatching(/^usr_/), email, name: "Code Person" },
        accessToken: expect.any(String),
        refreshToken: expect.stringMatching(/^rt_/),
        deviceToken: expect.stringMatching(/^dt_/),
        personalWorkspace: { id: expect.stringMatching(/^ws_/), slug: expect.stringMatching(/^code-person/) },
        isNewUser: true,
      });
      const { accessToken: token, personalWorkspace } = answer.body.data;
      const project = { token, workspaceId: personalWorkspace.id, body: { name: "first" } };
      expect((await call(service.url, "/projects", project)).status).toBe(201);
      const again = pkce();
      const second = await signInWith(service.url, provider, { email }, { query: again.query });
      expect((await exchange(second.parameters.code, again.verifier)).body.data.isNewUser).toBe(false);
    },
  );

  test("a code works once, and not with another verifier", async () => {
    const { verifier, query } = pkce();
    const { parameters } = await signInWith(service.url, "provider_b", { email: newEmail() }, { query });
    const racing = await Promise.all(Array.from({ length: 8 }, () => exchange(parameters.code, verifier)));
    expect(racing.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
    for (const { status, body } of racing) if (status === 400) expect(body.error.code).toBe("INVALID_TOKEN");

    const stolen = pkce();
    const other = await signInWith(service.url, "provider_b", { email: newEmail() }, { query: stolen.query });
    const guess = await exchange(other.parameters.code, pkce().verifier);
    expect([guess.status, guess.body.error.code]).toEqual([400, "INVALID_TOKEN"]);
    // The wrong verifier used the code up.
    expect((await exchange(other.parameters.code, stolen.verifier)).status).toBe(400);
  });

  test.each([
    [{ code: "A".repeat(43), codeVerifier: "short" }, "codeVerifier"],
    [{ codeVerifier: "A".repeat(43) }, "code"],
    [{ code: 5, codeVerifier: "A".repeat(43) }, "code"],
  ])("%j is a validation error", async (body, path) => {
    const answer = await call(service.url, "/auth/oauth/exchange", { body });
    expect([answer.status, answer.body.error.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.error.details).toContainEqual(expect.objectContaining({ path }));
  });

  test("codes and verifiers appear in no event", async () => {
    const { verifier, query } = pkce();
    const { parameters } = await signInWith(service.url, "provider_a", { email: newEmail() }, { query });
    const { headers } = await exchange(parameters.code, verifier);
    await expect.poll(service.server.output).toContain(headers.get("X-Request-Id"));
    const output = service.server.output();
    for (const secret of [parameters.code, verifier]) expect(output).not.toContain(secret);
  });
});
