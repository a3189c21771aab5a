import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { isCommonPassword } from "../../../src/accounts/common-passwords.ts";
import { passwordSchema } from "../../../src/accounts/password.ts";

it("the list has 3,000 passwords of accepted length, matched in any case", () => {
  const source = readFileSync(path.join(import.meta.dirname, "../../../src/accounts/common-passwords.ts"), "utf8");
  const words = /`\n([^`]+)`/.exec(source)?.[1]?.trim().split(/\s+/) ?? [];
  expect(new Set(words).size).toBe(3000);
  for (const word of words) {
    expect(isCommonPassword(word)).toBe(true);
    expect(isCommonPassword(word.toUpperCase())).toBe(true);
    expect(passwordSchema.safeParse(word).success).toBe(true);
  }
  for (const word of ["correct horse battery", "", "password password", "zq8!kd0x"]) {
    expect(isCommonPassword(word)).toBe(false);
  }
});
