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
