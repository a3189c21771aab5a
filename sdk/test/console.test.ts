import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { jsonLine } from "../src/cli/pretty.ts";
import { createLogger } from "../src/index.ts";
import { visible } from "../src/terminal.ts";
import { memoryTransport } from "../src/testing.ts";
import { writeToConsole } from "../src/transports/console.ts";

const OWN_COLORS = new RegExp(`${"\u001b"}\\[\\d+m`, "g");
/** ESC, OSC, CR, BEL, DEL, the CSI of C1, a line separator, and right-to-left text. */
const NASTY = "a\u001b]0;owned\u0007\r\u001b[2Jb\u007f\u009b31m\u2028\u202ec\n";
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;
/** Line breaks are allowed, because lists and stacks have them. */
const OBEYED = /[[\p{Cc}--[\n\t]]\p{Bidi_Control}\p{Zl}\p{Zp}]/v;

const entry = {
  timestamp: "2026-11-20T10:00:00.000Z",
  level: "warn",
  category: "custom",
  type: NASTY,
  message: NASTY,
  data: { text: NASTY, [NASTY]: [NASTY] },
};

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Returns the console output without the library's colors. */
function printed(work: () => void): unknown[][] {
  const calls: unknown[][] = [];
  for (const name of ["log", "warn", "error"] as const) {
    vi.spyOn(console, name).mockImplementation((...parts) => void calls.push(parts));
  }
  work();
  return calls.map((parts) => parts.map((part) => (typeof part === "string" ? part.replace(OWN_COLORS, "") : part)));
}

describe("B15: the console", () => {
  test("escapes control characters, and keeps the JSON equivalent", () => {
    const json = JSON.stringify(entry);
    expect(CONTROLS.test(json)).toBe(true);
    const line = visible(json);
    expect(CONTROLS.test(line)).toBe(false);
    // Characters that JSON has escaped are not escaped again.
    expect(line).toContain("\\u001b]0;owned\\u0007\\r");
    expect(JSON.parse(line)).toEqual(entry);
    expect(jsonLine(entry)).toBe(line);
  });

  test.each([
    ["production", "production"],
    ["development", "development"],
  ])("in %s shows control characters of entries", (_what, mode) => {
    vi.stubEnv("NODE_ENV", mode);
    const calls = printed(() => writeToConsole(JSON.stringify(entry)));
    const texts = calls.flat().map((part) => (typeof part === "string" ? part : inspect(part)));
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).not.toMatch(OBEYED);
    expect(texts.join()).toContain("\\u001b]0;owned");
  });

  test("escapes control characters of an error in debug", () => {
    const logger = createLogger({
      transport: memoryTransport(),
      debug: true,
      beforeSend() {
        throw new Error(NASTY);
      },
    });
    const calls = printed(() => logger.info("x"));
    expect(calls.length).toBeGreaterThan(0);
    for (const text of calls.flat().map(String)) expect(text).not.toMatch(OBEYED);
  });

  test("passes on an error without control characters unchanged", () => {
    const error = new Error("plain");
    const logger = createLogger({
      transport: memoryTransport(),
      debug: true,
      beforeSend() {
        throw error;
      },
    });
    expect(printed(() => logger.info("x"))).toContainEqual(["taffrail:", error]);
  });
});
