import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { encodeSegment } from "../../../src/logs/segments/encode/encode-segment.ts";
import { batchesOf, bytesOf, encode, line, linesIn, open, PROJECT, valuesIn } from "./support.ts";

/** Deterministic numbers from 0 to 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function shapesIn(bytes: Uint8Array): (string | null)[] {
  return valuesIn(bytes, "shape").map((shape) => (shape === null ? null : String(shape)));
}

/** Lines with 15 members that are each present or not at random. */
function manyShapes(count: number): string[] {
  const next = random(7);
  return Array.from({ length: count }, (_, at) => {
    const data: Record<string, unknown> = { route: `/r/${at % 7}` };
    for (let member = 0; member < 15; member++) {
      if (next() < 0.5) data[`m${member}`] = member % 3 === 0 ? `text ${at % 50}` : at * member;
    }
    return line(data, at % 5 === 0 ? { traceId: `t${at}` } : {}, at);
  });
}

describe("members that many lines lack", () => {
  test("make one shape, and their values are in columns", () => {
    const lines = manyShapes(4000);
    const bytes = bytesOf(encode(lines));
    expect(linesIn(bytes).map(String)).toEqual(lines);
    const shapes = shapesIn(bytes);
    expect(shapes.filter((shape) => shape === "line")).toEqual([]);
    expect(valuesIn(bytes, "rest").every((rest) => rest === null)).toBe(true);
    expect(new Set(shapes).size).toBeLessThan(300);
    const united = shapes.filter((shape) => shape?.includes("?"));
    expect(united.length).toBeGreaterThan(3500);
    const members = Array.from({ length: 15 }, (_, member) => `"m${member}":?`);
    expect(united.at(-1)).toBe(`{"route":?,${members.join(",")}}`);
    const { reader } = open(bytes);
    expect(reader.columns.map(({ name }) => name)).toContain("data.m14");
  });

  test("are told from nulls, values in rest and empty objects", () => {
    const next = random(11);
    const lines = Array.from({ length: 1500 }, (_, at) => {
      const user: Record<string, unknown> = {};
      const data: Record<string, unknown> = {};
      for (let member = 0; member < 12; member++) {
        const into = member < 4 ? user : data;
        const kind = next();
        if (kind < 0.5) continue;
        into[`m${member}`] = kind < 0.9 ? at : kind < 0.93 ? null : kind < 0.96 ? [at] : `text ${at % 3}`;
        if (member === 5) data.user = user;
      }
      return line(data, {}, at);
    });
    const bytes = bytesOf(encode(lines));
    expect(linesIn(bytes).map(String)).toEqual(lines);
    expect(shapesIn(bytes).some((shape) => shape?.includes("?"))).toBe(true);
  });

  test("come back letter for letter in any order, spelling and nesting, and equal lines give equal bytes", () => {
    const spelling = fc.constantFrom(
      ...[
        "1",
        "1.0",
        "-0",
        "12345678901234567890",
        '"a"',
        '"\\u0061"',
        '"é\\n"',
        "null",
        "true",
        "[1,{}]",
        "{}",
        "0.1",
      ],
    );
    const plain = fc.constantFrom("1", '"a"', "7", "0.5", "false");
    const names = Array.from(
      { length: 14 },
      (_, index) => ["a", "?", "*", "#", 'q"', "é", "__proto__", ","][index] ?? `m${index}`,
    );
    const data = fc
      .tuple(
        fc.subarray(names),
        fc.array(fc.oneof({ weight: 12, arbitrary: plain }, spelling), { minLength: 14, maxLength: 14 }),
        fc.integer({ min: 0, max: 40 }),
      )
      .map(([own, values, how]) => {
        const ordered = how === 0 ? own.toReversed() : own;
        const members = ordered.map((name, index) => `${JSON.stringify(name)}:${values[index]}`);
        const half = members.length >> 1;
        if (how % 3 !== 1) return `{${members.join(",")}}`;
        return `{${[...members.slice(0, half), `"in":{${members.slice(half).join(",")}}`].join(",")}}`;
      });
    fc.assert(
      fc.property(fc.array(data, { minLength: 500, maxLength: 700, size: "max" }), (list) => {
        const lines = list.map((own, at) => line(own, {}, at));
        const file = encode(lines);
        expect(linesIn(bytesOf(file)).map(String)).toEqual(lines);
        expect(Buffer.compare(bytesOf(encode(lines)), bytesOf(file))).toBe(0);
      }),
      { numRuns: 8 },
    );
  });
});

describe("a step of the encoder", () => {
  test("ends after 128 new templates: lines of which each has another one do not hold the thread", () => {
    const steps = (makeValue: (next: () => number) => unknown) => {
      const next = random(3);
      const lines = Array.from({ length: 2000 }, (_, at) =>
        line(Object.fromEntries(Array.from({ length: 20 }, (__, member) => [`m${member}`, makeValue(next)])), {}, at),
      );
      const all = encodeSegment(PROJECT, linesOf(batchesOf(lines), { firstSeq: 1, lastSeq: lines.length }));
      let count = 1;
      while (all.next().done !== true) count++;
      return count;
    };
    expect(steps((next) => (next() < 0.5 ? [1] : 7)) - steps(() => 7)).toBeGreaterThanOrEqual(15);
  });
});
