import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { callEarly, takeEarly } from "../../../web/src/api/early-calls.ts";
import { callOf } from "../../../web/src/api/exchange.ts";

const OPTIONS = { token: "a", workspaceId: "ws_1", body: { filters: {}, order: "desc" } };
const sent = vi.fn(async () => new Response("entries"));

beforeEach(() => {
  vi.stubGlobal("fetch", sent);
  vi.stubGlobal("taffrailEarly", undefined);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  sent.mockClear();
});

test("a response is taken once, by the same call", async () => {
  callEarly("/logger/query", OPTIONS);
  expect((await takeEarly(callOf("/logger/query", OPTIONS)))?.text).toBe("entries");
  expect(takeEarly(callOf("/logger/query", OPTIONS))).toBeNull();
  expect(sent).toHaveBeenCalledTimes(1);
});

test.each([
  ["another path", "/logger/stats", OPTIONS],
  ["another account", "/logger/query", { ...OPTIONS, token: "b" }],
  ["another workspace", "/logger/query", { ...OPTIONS, workspaceId: "ws_2" }],
  ["another body", "/logger/query", { ...OPTIONS, body: { filters: {}, order: "asc" } }],
])("a call with %s does not take it", (_, path, options) => {
  callEarly("/logger/query", OPTIONS);
  expect(takeEarly(callOf(path, options))).toBeNull();
  expect(takeEarly(callOf("/logger/query", OPTIONS))).not.toBeNull();
});

test("an old response is not taken, and a failure is the failure of the call that takes it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  callEarly("/logger/query", OPTIONS);
  vi.advanceTimersByTime(31_000);
  expect(takeEarly(callOf("/logger/query", OPTIONS))).toBeNull();
  sent.mockRejectedValueOnce(new TypeError("offline"));
  callEarly("/logger/query", OPTIONS);
  await expect(takeEarly(callOf("/logger/query", OPTIONS))).rejects.toThrow("offline");
});
