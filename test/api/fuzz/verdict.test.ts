import { expect, test } from "vitest";
import { fault } from "./verdict.ts";

const PAGE = {
  status: 404,
  headers: { "x-request-id": "req_x", "content-type": "text/html; charset=utf-8", vary: "Accept, Origin" },
  body: "<!doctype html>",
};
const LIMITS = { "x-ratelimit-limit": "1", "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1" };

test("a browser may get a page at an unknown path", () => {
  const headers = { Accept: "text/html" };
  expect(fault({ method: "GET", path: "/health;a=b", headers }, PAGE)).toBeNull();
});

test.each([
  ["/health;a=b", "GET", "*/*"],
  ["/health;a=b", "POST", "text/html"],
  ["/projects/x/y", "GET", "text/html"],
])("a page at %s is a fault for %s with Accept: %s", (path, method, accept) => {
  const answer = { ...PAGE, headers: { ...PAGE.headers, ...LIMITS } };
  expect(fault({ method, path, headers: { Accept: accept } }, answer)).toBe("content type text/html; charset=utf-8");
});

test("doors answer in the shape of their clients, and never with a 500, without an id or with a cause", () => {
  const answer = { status: 200, headers: { "x-request-id": "req_x", "content-type": "application/json" }, body: "{}" };
  const request = { method: "POST", path: "/es/logs/_refresh?a=b", headers: {} };
  expect(fault(request, answer)).toBeNull();
  expect(fault({ ...request, path: "/projects" }, answer)).not.toBeNull();
  expect(fault(request, { ...answer, status: 500 })).toBe("status 500");
  expect(fault(request, { ...answer, headers: {} })).toBe("no X-Request-Id");
  expect(fault(request, { ...answer, status: 429 })).toBe("a 429 without Retry-After");
  expect(fault(request, { ...answer, body: '{"m":"TypeError: x"}' })).toBe("a message with a cause");
});
