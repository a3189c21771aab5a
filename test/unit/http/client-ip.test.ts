import { describe, expect, test } from "vitest";
import { clientIp, normalizeIp, UNKNOWN_CLIENT_IP } from "../../../src/platform/loopback.ts";

const ip = (headers: Record<string, string>, unnamed: string = UNKNOWN_CLIENT_IP) =>
  clientIp(new Headers(headers), unnamed);

describe("the client IP", () => {
  test("is the edge's header, then the first of X-Forwarded-For, then the one that is set", () => {
    expect(ip({ "CF-Connecting-IP": "192.0.2.1", "X-Forwarded-For": "192.0.2.2" })).toBe("192.0.2.1");
    expect(ip({ "X-Forwarded-For": " 192.0.2.2 , 192.0.2.3" })).toBe("192.0.2.2");
    expect(ip({})).toBe(UNKNOWN_CLIENT_IP);
    expect(ip({}, "127.0.0.1")).toBe("127.0.0.1");
    expect(ip({ "CF-Connecting-IP": "nonsense" }, "127.0.0.1")).toBe(UNKNOWN_CLIENT_IP);
  });

  test.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["::1", "::/64"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["fe80::1%eth0", "fe80::/64"],
  ])("%s counts as %s", (text, counted) => expect(normalizeIp(text)).toBe(counted));

  test.each([
    "",
    "unknown",
    "192.0.2.1:80",
    "[::1]",
    "999.1.1.1",
    "::1::",
    "2001:db8::/64",
    "a".repeat(10_000),
    "%",
    "::%",
  ])("%j is not an IP address and counts as the constant", (text) => expect(normalizeIp(text)).toBe(UNKNOWN_CLIENT_IP));
});
