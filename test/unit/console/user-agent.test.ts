import { expect, it } from "vitest";
import { programOf } from "../../../web/src/pages/account/user-agent.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/130.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`,
    "Edge on Windows",
  ],
  [`Mozilla/5.0 (Linux; Android 14; K) ${WEBKIT} Chrome/130.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox on macOS"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
    "Safari on macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/130.0 Mobile Safari/604.1",
    "Chrome on iOS",
  ],
  ["curl/8.5.0", "curl/8.5.0"],
  ["x".repeat(256), "x".repeat(60)],
  ["", "Unnamed program"],
  [null, "Unnamed program"],
])("describes %s as %s", (userAgent, program) => {
  expect(programOf(userAgent)).toBe(program);
});
