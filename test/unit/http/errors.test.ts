import { describe, expect, test } from "vitest";
import { requestIdOf } from "../../../src/http/context.ts";
import { failure, success } from "../../../src/http/envelope.ts";
import { ERROR_STATUS, type ErrorCode } from "../../../src/http/errors.ts";
import { limitHeaders } from "../../../src/http/headers.ts";

describe("the envelope", () => {
  test("contains data or an error, never both, and the time and id of the request", async () => {
    const good = success({ a: 1 }, "r1", 201);
    expect(good.status).toBe(201);
    const meta = { timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), requestId: "r1" };
    expect(await good.json()).toEqual({ success: true, data: { a: 1 }, error: null, meta });
    const bad = failure({ code: "CONFLICT", message: "m", details: [{ path: "a", code: "c", message: "d" }] }, "r1");
    expect(bad.status).toBe(409);
    const error = { code: "CONFLICT", message: "m", details: [{ path: "a", code: "c", message: "d" }] };
    expect(await bad.json()).toEqual({ success: false, data: null, error, meta });
    expect(await success(undefined, 'quote " and \\').json()).toMatchObject({
      data: null,
      meta: { requestId: 'quote " and \\' },
    });
  });

  test("sets the status of every code, and a challenge for every 401", () => {
    // The list of the HTTP contract, by status.
    const contract: Record<number, string> = {
      400: "VALIDATION_ERROR WEAK_PASSWORD INVALID_TOKEN TOKEN_EXPIRED OAUTH_STATE_INVALID",
      401: `UNAUTHORIZED INVALID_CREDENTIALS INVALID_ACCESS_TOKEN ACCESS_TOKEN_EXPIRED SESSION_REVOKED INVALID_REFRESH_TOKEN
        REFRESH_TOKEN_EXPIRED REFRESH_TOKEN_REUSED INVALID_API_KEY API_KEY_EXPIRED API_KEY_REVOKED`,
      403: "FORBIDDEN INSUFFICIENT_SCOPE EMAIL_NOT_VERIFIED REAUTHENTICATION_REQUIRED OAUTH_ACCESS_DENIED OAUTH_EMAIL_UNVERIFIED",
      404: "NOT_FOUND OAUTH_NOT_CONFIGURED",
      405: "METHOD_NOT_ALLOWED",
      408: "REQUEST_TIMEOUT",
      409: "EMAIL_ALREADY_EXISTS PROVIDER_ALREADY_LINKED LAST_AUTH_METHOD IDEMPOTENCY_CONFLICT CONFLICT",
      413: "PAYLOAD_TOO_LARGE",
      415: "UNSUPPORTED_MEDIA_TYPE",
      429: "RATE_LIMITED",
      500: "INTERNAL_ERROR",
      502: "OAUTH_PROVIDER_ERROR",
      503: "SERVICE_UNAVAILABLE",
    };
    const listed = Object.entries(contract).flatMap(([status, codes]) =>
      codes.split(/\s+/).map((code) => [code, Number(status)]),
    );
    expect(Object.fromEntries(listed)).toEqual(ERROR_STATUS);
    for (const [code, status] of Object.entries(ERROR_STATUS)) {
      // SAFETY: `code` is a key of the list.
      const response = failure({ code: code as ErrorCode, message: "m" }, "r");
      expect(response.status).toBe(status);
      expect(response.headers.get("WWW-Authenticate")?.startsWith("Bearer ") ?? false).toBe(status === 401);
    }
  });
});

describe("limit headers", () => {
  const state = { admitted: true, limit: 5, remaining: 4, resetAt: 1_795_000_000_001, retryAfter: 0 };

  test("round the reset up, so that a client that waits for it does not retry early", () => {
    expect(limitHeaders(state)).toEqual({
      "X-RateLimit-Limit": "5",
      "X-RateLimit-Remaining": "4",
      "X-RateLimit-Reset": "1795000001",
    });
    const refused = { ...state, admitted: false, remaining: 0 };
    expect(limitHeaders({ ...refused, retryAfter: 1 })["Retry-After"]).toBe("1");
    expect(limitHeaders({ ...refused, retryAfter: 59_001 })["Retry-After"]).toBe("60");
    expect(limitHeaders({ ...refused, retryAfter: 0 })["Retry-After"]).toBe("1");
  });
});

describe("a request id", () => {
  test.each(["a", "req-1", "x".repeat(128), "!~{}\"'"])("of the caller is kept: %s", (id) =>
    expect(requestIdOf(id)).toBe(id),
  );

  test.each([null, undefined, "", "x".repeat(129), "a b", "a\tb", "é", "\u007f"])(
    "that is invalid is replaced: %j",
    (id) => {
      expect(requestIdOf(id)).toMatch(/^req_[0-9A-Za-z]{16}$/);
      expect(requestIdOf(id)).not.toBe(requestIdOf(id));
    },
  );
});
