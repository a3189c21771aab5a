import { expect, test } from "vitest";
import { validated } from "../../../src/http/resource.ts";
import { sentMappingSchema } from "../../../src/keys/settings.ts";

test("a mapping may name the time as `timestamp`, and an unknown part is answered with the valid ones", () => {
  expect(validated(sentMappingSchema, { timestamp: ["when"] })).toEqual({ timestamp: ["when"] });
  expect(() => validated(sentMappingSchema, { title: ["x"] }, "body.mapping")).toThrow(
    expect.objectContaining({
      message: expect.stringContaining("body.mapping.title: Unknown part of an entry. Send message, time,"),
    }),
  );
});
