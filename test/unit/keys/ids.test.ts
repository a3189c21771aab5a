import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BASE62, fromBase62, ID_LENGTH, isBase62, isId, newId, randomBase62, toBase62 } from "../../../src/ids.ts";
import { logId, parseLogId } from "../../../src/logs/entry-view.ts";

const seqs = fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 1, 61, 62, 3843, 3844, Number.MAX_SAFE_INTEGER));

describe("base62", () => {
  test("decodes to the encoded number, and sorts like it at equal length", () => {
    fc.assert(
      fc.property(seqs, seqs, (a, b) => {
        const [x, y] = [toBase62(a), toBase62(b)];
        expect(fromBase62(x)).toBe(a);
        if (x.length === y.length) expect(x < y).toBe(a < b);
      }),
    );
  });

  test("has one spelling per number", () => {
    const digits = fc.string({ unit: fc.constantFrom(...BASE62), maxLength: 14 });
    fc.assert(
      fc.property(digits, (text) => {
        const value = fromBase62(text);
        if (value !== null) expect(toBase62(value)).toBe(text);
      }),
    );
    expect(fromBase62("00")).toBeNull();
    expect(fromBase62("")).toBeNull();
    expect(fromBase62(toBase62(Number.MAX_SAFE_INTEGER).replace(/.$/, "z"))).toBeNull();
    expect(fromBase62("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz")).toBeNull();
  });

  test("accepts only its own characters", () => {
    for (let code = 0; code < 0x250; code++) {
      expect(isBase62(String.fromCharCode(code))).toBe(BASE62.includes(String.fromCharCode(code)));
    }
  });

  test("draws every character about equally often", () => {
    const counts = new Map<string, number>();
    for (const digit of randomBase62(62_000)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([...BASE62].sort());
    // 1,000 expected, with a deviation of 31. Nine deviations do not happen by chance; a modulo bias would be 25 %.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(280);
  });
});

describe("ids", () => {
  test("consist of a prefix and twelve base62 characters", () => {
    for (const prefix of ["usr", "ws", "proj", "key", "fam", "inv"] as const) {
      const id = newId(prefix);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{${ID_LENGTH}}$`));
      expect(isId(prefix, id)).toBe(true);
      for (const bad of [id.slice(1), `${id}a`, id.slice(0, -1), `${id.slice(0, -1)}_`, `x${id}`, `${prefix}_`, ""]) {
        expect(isId(prefix, bad)).toBe(false);
      }
    }
    expect(isId("usr", newId("key"))).toBe(false);
  });

  test("of entries contain project and seq, and no other text parses", () => {
    const project = newId("proj");
    fc.assert(
      fc.property(
        seqs.filter((seq) => seq > 0),
        (seq) => {
          expect(parseLogId(logId(project, seq))).toEqual({ projectId: project, seq });
        },
      ),
    );
    for (const bad of ["", "log_", logId(project, 0), `${logId(project, 5)}_`, logId(project, 5).slice(1), project]) {
      expect(parseLogId(bad)).toBeNull();
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const parsed = parseLogId(text);
        if (parsed) expect(logId(parsed.projectId, parsed.seq)).toBe(text);
      }),
    );
  });
});
