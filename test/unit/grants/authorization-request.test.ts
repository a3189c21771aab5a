import { describe, expect, it } from "vitest";
import { type CheckedRequest, checkRequest, requestedClient } from "../../../src/grants/authorization-request.ts";

const SERVICE = { issuer: "https://logs.example.com", resource: "https://logs.example.com/mcp" };
const CLIENT = {
  id: "https://app.example.com/client.json",
  name: "App",
  host: "app.example.com",
  redirectUris: ["http://127.0.0.1/cb"],
};
const VALID = {
  response_type: "code",
  client_id: CLIENT.id,
  redirect_uri: "http://127.0.0.1:5000/cb",
  state: "s1",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
  resource: SERVICE.resource,
};

/** @param change `null` removes a parameter */
function check(change: Readonly<Record<string, string | null>>, more = ""): CheckedRequest {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...VALID, ...change })) if (value !== null) parameters.set(name, value);
  return checkRequest(new URLSearchParams(`${parameters}${more}`), CLIENT, SERVICE);
}

/** Returns the error that a client gets; `null` if the request is not answered by a redirect. */
function errorOf(checked: CheckedRequest): string | null {
  if (checked.ok) return "none";
  if (checked.redirectTo === null) return null;
  const url = new URL(checked.redirectTo);
  expect(url.origin + url.pathname).toBe("http://127.0.0.1:5000/cb");
  expect(url.searchParams.get("iss")).toBe(SERVICE.issuer);
  return url.searchParams.get("error");
}

describe("an authorization request", () => {
  it("without a scope asks for all, with one for that and reading; unknown ones are ignored beside known ones", () => {
    const scopesOf = (scope: string | null) => {
      const checked = check({ scope });
      return checked.ok ? checked.request.scopes : errorOf(checked);
    };
    expect(scopesOf(null)).toEqual(["logs:read", "views:write", "alerts:write"]);
    expect(scopesOf("logs:read")).toEqual(["logs:read"]);
    expect(scopesOf("alerts:write offline_access")).toEqual(["logs:read", "alerts:write"]);
    expect(scopesOf("admin")).toBe("invalid_scope");
  });

  it("is bound to its state, challenge, redirect URI and resource", () => {
    const checked = check({});
    expect(checked).toMatchObject({
      ok: true,
      request: {
        clientId: CLIENT.id,
        redirectUri: VALID.redirect_uri,
        state: "s1",
        challenge: VALID.code_challenge,
        resource: SERVICE.resource,
      },
    });
  });

  it.each([
    ["PKCE downgrade: no challenge", { code_challenge: null }, "invalid_request"],
    ["PKCE downgrade: plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["PKCE downgrade: no method, which means plain", { code_challenge_method: null }, "invalid_request"],
    ["a challenge that is no SHA-256", { code_challenge: "abc" }, "invalid_request"],
    ["the implicit grant", { response_type: "token" }, "unsupported_response_type"],
    ["a hybrid response", { response_type: "code id_token" }, "unsupported_response_type"],
    ["an answer in the fragment", { response_mode: "fragment" }, "invalid_request"],
    ["a foreign audience", { resource: "https://other.example.com/mcp" }, "invalid_target"],
    ["a request object", { request: "eyJ" }, "request_not_supported"],
    ["a request by reference", { request_uri: "https://app.example.com/r" }, "request_uri_not_supported"],
    ["a state of 3,000 characters", { state: "s".repeat(3000) }, "invalid_request"],
  ])("refuses %s", (_what, change, error) => expect(errorOf(check(change))).toBe(error));

  it.each(["state", "scope", "code_challenge", "response_type", "code_challenge_method"])("refuses %s twice", (name) =>
    expect(errorOf(check({ scope: "logs:read" }, `&${name}=x`))).toBe("invalid_request"),
  );

  it("accepts other spellings of the resource, and the same one twice", () => {
    for (const resource of [`${SERVICE.resource}/`, "HTTPS://LOGS.example.com:443/mcp"]) {
      expect(errorOf(check({ resource }))).toBe("none");
    }
    expect(errorOf(check({}, `&resource=${encodeURIComponent(SERVICE.resource)}`))).toBe("none");
    expect(errorOf(check({}, "&resource=https%3A%2F%2Fother.example.com"))).toBe("invalid_target");
    expect(errorOf(check({ resource: null }))).toBe("none");
  });

  it("never redirects to an address that is not the client's", () => {
    for (const redirect_uri of [
      null,
      "http://127.0.0.1:5000/other",
      "https://evil.example.com/",
      "javascript:alert(1)",
    ]) {
      expect(errorOf(check({ redirect_uri, code_challenge: null }))).toBeNull();
    }
    expect(errorOf(check({}, "&redirect_uri=https%3A%2F%2Fevil.example.com"))).toBeNull();
  });

  it("names one client", () => {
    expect(requestedClient(new URLSearchParams("client_id=a"))).toEqual({ ok: true, id: "a" });
    for (const query of ["", "client_id=", "client_id=a&client_id=b", `client_id=${"a".repeat(3000)}`]) {
      expect(requestedClient(new URLSearchParams(query))).toMatchObject({ ok: false, redirectTo: null });
    }
  });
});
