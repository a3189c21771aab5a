import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ApiError } from "../../../src/http/errors.ts";
import { jsonBody, optionalJsonBody } from "../../../src/http/resource.ts";

const schema = z.strictObject({ password: z.string().optional() });

const request = (init: RequestInit) => new Request("http://t.test/auth/me", { method: "DELETE", ...init });
const json = { "Content-Type": "application/json" };

async function codeOf(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error("was not refused");
  return error.refusal.code;
}

describe("a body that may be left out", () => {
  it("may also be empty, with any type", async () => {
    const empty = () => new Blob([]).stream();
    for (const init of [
      {},
      { body: "" },
      { body: "", headers: { ...json, "Content-Length": "0" } },
      { body: empty(), duplex: "half" as const },
    ]) {
      expect(await optionalJsonBody(request(init), schema)).toEqual({});
    }
  });

  it("is read if it is present", async () => {
    expect(await optionalJsonBody(request({ body: '{"password":"p"}', headers: json }), schema)).toEqual({
      password: "p",
    });
    expect(await codeOf(optionalJsonBody(request({ body: "{}" }), schema))).toBe("UNSUPPORTED_MEDIA_TYPE");
    expect(await codeOf(optionalJsonBody(request({ body: " ", headers: json }), schema))).toBe("VALIDATION_ERROR");
    const large = request({ body: `"${"x".repeat(300_000)}"`, headers: json });
    expect(await codeOf(optionalJsonBody(large, schema))).toBe("PAYLOAD_TOO_LARGE");
  });
});

it("a required body must not be empty", async () => {
  expect(await codeOf(jsonBody(request({ body: "", headers: json }), schema))).toBe("VALIDATION_ERROR");
  expect(await codeOf(jsonBody(request({}), schema))).toBe("UNSUPPORTED_MEDIA_TYPE");
});
