import fc from "fast-check";
import { expect, it } from "vitest";
import { patternOf } from "../../../src/logs/search/pattern.ts";

const PATTERNS: readonly [message: string, pattern: string][] = [
  ["GET /api/orders/4711 answered in 31.5 ms", "GET /api/orders/<*> answered in <N> ms"],
  ["GET /api/v1/users/u_8fK2/orders 200", "GET /api/v1/users/<*>/orders <N>"],
  ["user 7b0c9c0e-6d1f-4c8e-9f3a-2b1d4e5f6a7b can't sign in", "user <UUID> can't sign in"],
  ["unknown column \"user id 5\" in 'orders'", "unknown column <STR> in <STR>"],
  ["2026-11-22T10:30:15.250Z worker 3 of 10.0.0.17:8080 stopped", "<DATETIME> worker <N> of <IP4>:<N> stopped"],
  ["backup of 2026-11-22 at 03:00:00", "backup of <DATE> at <TIME>"],
  ["commit 4f2a9c1e3b at 0xdeadBEEF", "commit <N> at <N>"],
  ["deadbeef is a word without digits, 12345678 is a number", "deadbeef is a word without digits, <N> is a number"],
  ["from 2001:db8:85a3:0:0:8a2e:370:7334", "from <IP6>"],
  ["retry 3/5 of job17", "retry <N>/<*> of job<N>"],
  ["TypeError at /app/src/cart.ts:12:5", "TypeError at /app/src/cart.ts:<N>:<N>"],
  ["nothing varies here", "nothing varies here"],
  ["", ""],
];

it("masks what varies in a message", () => {
  for (const [message, pattern] of PATTERNS) expect(patternOf(message)).toBe(pattern);
});

it("gives messages that differ only in numbers one pattern, and a pattern has no digits but of versions", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.stringMatching(/^[a-z .:]{0,20}$/), (a, b, text) => {
      expect(patternOf(`${text} ${a} ms`)).toBe(patternOf(`${text} ${b} ms`));
      expect(patternOf(`${text} ${a} ms`)).not.toMatch(/\d/);
    }),
  );
});

it("takes little time for hostile messages", () => {
  for (const piece of ['"', "'", "/", "/1", "a1", "0x", "1:", "-", "1.", "2026-11-22T", "fffffff1", "\\"]) {
    expect(patternOf(piece.repeat(50_000)).length).toBeLessThan(20_000);
  }
});
