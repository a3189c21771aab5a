import fc from "fast-check";
import { expect, it } from "vitest";
import { toByteString } from "../../../src/logs/query/case-folding.ts";
import { patternOf } from "../../../src/logs/search/pattern.ts";
import { PatternTexts } from "../../../src/logs/search/pattern-texts.ts";

const part = fc.oneof(
  fc.constantFrom(
    ...["/v1", "/v12/", "/v1234", "/x", "/api/users/", "v2", "0x", "0X", "1x", "90x", '"', "'", "\\", " ", "-", ":"],
    ...[".", "T", "Z", "took ", "ü", "漢", "\ud83d", "🚀", "deadbeef", "cafe", "a", "F", "_", ",", "+", "\n", "%20"],
    ...["2026-11-22", "10:00:00", "10.0.0.7", "fe80::1", "5f3c1d2e-1111-4222-8333-abcdefabcdef", "it's", "~"],
  ),
  fc.nat({ max: 99_999 }).map(String),
);
const message = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));
/** The same message with other digits. */
const varied = fc.tuple(message, fc.array(fc.nat({ max: 9 }), { minLength: 5, maxLength: 5 })).map(([text, digits]) => {
  let at = 0;
  return [text, text.replaceAll(/\d/g, () => String(digits[at++ % digits.length]))];
});

it("finds the patterns of messages in bytes and in JSON, also of those that differ from others in digits only", () => {
  const long = fc.tuple(message, fc.nat({ max: 700 })).map(([text, count]) => [`${text}${"a1 ".repeat(count)}`]);
  let [known, all] = [0, 0];
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 4, arbitrary: varied }, long), { maxLength: 8 }), (groups) => {
      const patterns = new PatternTexts();
      for (const text of groups.flat()) {
        const expected = toByteString(JSON.stringify(patternOf(text)));
        const json = toByteString(JSON.stringify(text));
        expect(patterns.ofJson(`x${json},`, 1, 1 + json.length), text).toBe(expected);
        const wellFormed = text.toWellFormed();
        const bytes = Buffer.from(`x${wellFormed}x`, "utf8");
        patterns.takeWork();
        const found = patterns.ofBytes(bytes, 1, bytes.length - 1);
        expect(found, text).toBe(toByteString(JSON.stringify(patternOf(wellFormed))));
        if (patterns.takeWork() < 400) known++;
        const number = patterns.numberOf(bytes, 1, bytes.length - 1);
        if (number >= 0) expect(patterns.at(number), text).toBe(found);
        all++;
      }
    }),
    { numRuns: 1000 },
  );
  expect(known).toBeGreaterThan(all / 4);
});

it("does not take a damaged string for a message", () => {
  const patterns = new PatternTexts();
  expect(patterns.ofJson('"a\\x"', 0, 5)).toBeNull();
  expect(patterns.ofJson("12345", 0, 5)).toBeNull();
});
