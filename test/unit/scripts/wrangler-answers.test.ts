import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { answerOf } from "../../../scripts/lib/wrangler-answers.ts";

test("an answer of wrangler is stored for the same inputs and the same question, and for no others", () => {
  const input = randomUUID();
  let asked = 0;
  const ask = () => ({ asked: ++asked });
  expect(answerOf([input], ask)).toEqual({ asked: 1 });
  expect(answerOf([input], ask)).toEqual({ asked: 1 });
  expect(answerOf([input, "more"], ask)).toEqual({ asked: 2 });
  expect(answerOf([input], () => ({ asked: 0 }))).toEqual({ asked: 0 });
});

test("a failed question of wrangler is not stored", () => {
  const input = randomUUID();
  let isBroken = true;
  const ask = () => {
    if (isBroken) throw new Error("broken");
    return "mended";
  };
  expect(() => answerOf([input], ask)).toThrow("broken");
  isBroken = false;
  expect(answerOf([input], ask)).toBe("mended");
});
