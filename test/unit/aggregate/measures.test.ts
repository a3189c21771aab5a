import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeldBytes } from "../../../src/logs/aggregate/by-group.ts";
import { CARDINALITY_ERROR } from "../../../src/logs/aggregate/cardinality.ts";
import { Distinct, hashOf } from "../../../src/logs/aggregate/distinct.ts";
import { ExactSums } from "../../../src/logs/aggregate/exact-sum.ts";
import { Percentiles } from "../../../src/logs/aggregate/percentiles.ts";
import { SKETCH_ERROR, Sketch, sketched } from "../../../src/logs/aggregate/sketch.ts";
import { EXACT_LIMITS, ValueTotal } from "../../../src/logs/aggregate/totals.ts";
import { exactSum } from "./reference.ts";
import { inOneStep } from "./steps.ts";

let seed = 1;
/** Differs from set to set, as in use: a set that is merged in the order of its own slots would be slow. */
const random = () => {
  seed = (Math.imul(seed, 0x9e3779b1) + 12345) | 0;
  return seed;
};
const anyNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    1e308,
    -1e308,
    1.7976931348623157e308,
    5e-324,
    -5e-324,
    2 ** 960,
    -(2 ** 960),
    2 ** -1022,
    1e16,
    0.1,
    -0,
  ),
  fc.integer(),
);

function sumOf(values: readonly number[]): number | null {
  const sums = new ExactSums(new HeldBytes());
  for (const value of values) sums.add(0, value);
  return sums.sum(0);
}

describe("sums", () => {
  it("4: are correctly rounded, whatever the numbers and their order", () => {
    fc.assert(
      fc.property(fc.array(anyNumber, { minLength: 1, maxLength: 30 }), (values) => {
        expect(sumOf(values)).toBe(exactSum(values));
        expect(sumOf([...values].reverse())).toBe(exactSum(values));
      }),
      { numRuns: 500 },
    );
  });

  it("are exact where doubles lose, overflow or vanish", () => {
    expect(sumOf([1e16, 1, -1e16])).toBe(1);
    expect(sumOf([1e308, 1e308, -1e308])).toBe(1e308);
    expect(sumOf([1e308, 5e-324, -1e308])).toBe(5e-324);
    expect(sumOf([1e308, 1e308])).toBeNull();
    expect(sumOf(Array.from({ length: 10 }, () => 0.1))).toBe(1);
    expect(sumOf([-0, -0])).toBe(0);
    const sums = new ExactSums(new HeldBytes());
    for (const value of [1.5e308, 1.5e308, 1e308]) sums.add(0, value);
    expect(sums.average(0)).toBe(1.3333333333333333e308);
  });
});

describe("a sketch", () => {
  it("is within its stated error, for numbers of any size and sign", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        fc.pre(Math.abs(value) >= 2 ** -1022);
        expect(Math.abs(sketched(value) - value)).toBeLessThanOrEqual(Math.abs(value) * SKETCH_ERROR * 1.000001);
      }),
      { numRuns: 5000 },
    );
    expect([sketched(0), sketched(Number.MAX_VALUE)].every(Number.isFinite)).toBe(true);
  });

  it("has the value of each rank that the sorted numbers have, and merges to the same", () => {
    fc.assert(
      fc.property(fc.array(anyNumber, { minLength: 1, maxLength: 40 }), fc.nat({ max: 40 }), (values, cut) => {
        const [whole, head] = [new Sketch(new HeldBytes()), new Sketch(new HeldBytes())];
        const tail = new Sketch(new HeldBytes());
        for (const value of values) whole.add(value);
        for (const value of values.slice(0, cut)) head.add(value);
        for (const value of values.slice(cut)) tail.add(value);
        tail.merge(head.state());
        const sorted = Float64Array.from(values).sort();
        for (const [at, value] of sorted.entries()) {
          expect(whole.valueAt(at + 1)).toBe(sketched(value) + 0);
          expect(tail.valueAt(at + 1)).toBe(sketched(value) + 0);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** The values of each group, in parts that are merged: the first value of `splits` begins the second part, and so on. */
function percentilesOf(groups: readonly (readonly number[])[], parts: number): Percentiles {
  const whole = new Percentiles(new HeldBytes(), new ValueTotal());
  for (let part = 0; part < parts; part++) {
    const into = parts === 1 ? whole : new Percentiles(new HeldBytes(), new ValueTotal());
    for (const [group, values] of groups.entries()) {
      for (let at = part; at < values.length; at += parts) into.add(group, values[at] ?? 0);
    }
    const own = Int32Array.from(groups, (_, group) => group);
    if (into !== whole) inOneStep(whole.merge(into.state(groups.length), own));
  }
  inOneStep(whole.finish(groups.length));
  return whole;
}

const numbered = (count: number, factor = 1) =>
  Array.from({ length: count }, (_, at) => ((at * 7919) % count) * factor);

describe("percentiles", () => {
  it.each([1, 2, 7])("4: are exact for 50,000 values and near for 50,001, in %i parts", (parts) => {
    const { group } = EXACT_LIMITS;
    const all = percentilesOf([numbered(group), numbered(group + 1), numbered(10)], parts);
    expect([0, 1, 2].map((each) => all.isExact(each))).toEqual([true, false, true]);
    expect([500, 990, 999, 1000].map((permille) => all.valueAt(0, permille))).toEqual([24_999, 49_499, 49_949, 49_999]);
    expect(all.valueAt(1, 990)).toBe(sketched(49_500));
    expect(all.valueAt(2, 500)).toBe(4);
    expect(all.valueAt(3, 500)).toBeNull();
  });

  it("17: take 2.5 KB for each of many groups, also of those that get no further value", () => {
    const held = new HeldBytes();
    const all = new Percentiles(held, new ValueTotal());
    const [groups, values] = [2000, 700];
    let most = 0;
    for (let group = 0; group < groups; group++) {
      for (let at = 0; at < values; at++) all.add(group, Math.floor((at / values) ** 2 * 1500));
      most = Math.max(most, held.bytes);
    }
    expect(held.bytes).toBeLessThan(groups * 2500);
    // While all values are in the list.
    expect(most).toBeLessThan(EXACT_LIMITS.total * 13);
    inOneStep(all.finish(groups));
    expect([0, 1999].map((group) => all.valueAt(group, 990))).toEqual([sketched(1467), sketched(1467)]);
    // Numbers of very different sizes.
    const wide = new Percentiles(new HeldBytes(), new ValueTotal());
    for (let at = 0; at < 60_001; at++) wide.add(0, 10 ** ((at % 601) - 300) * (at % 2 === 0 ? 1 : -1));
    inOneStep(wide.finish(1));
    expect(wide.valueAt(0, 1000)).toBe(sketched(1e300));
    expect(wide.valueAt(0, 1)).toBe(sketched(-(10 ** 299)));
  });

  it.each([1, 3])("4: are exact for 1,000,000 values in all groups and near for 1,000,001, in %i parts", (parts) => {
    const groups = Array.from({ length: 40 }, (_, at) => numbered(25_000, at + 1));
    const exact = percentilesOf(groups, parts);
    expect([exact.isExact(39), exact.valueAt(39, 990)]).toEqual([true, 24_749 * 40]);
    const sketch = percentilesOf([...groups, [5]], parts);
    expect([sketch.isExact(39), sketch.isExact(40)]).toEqual([false, false]);
    expect(sketch.valueAt(39, 990)).toBe(sketched(24_749 * 40));
    expect(sketch.valueAt(40, 990)).toBe(sketched(5));
  });
});

it("4: percentiles of a column are those of its values, added one by one", () => {
  const total = new ValueTotal();
  const [column, single] = [
    new Percentiles(new HeldBytes(), total),
    new Percentiles(new HeldBytes(), new ValueTotal()),
  ];
  const count = EXACT_LIMITS.group + 20_000;
  const kinds = [(at: number) => at % 5000, (at: number) => -(at % 30), (at: number) => (at % 900) / 7, () => -0];
  const values = Float64Array.from({ length: 2 * count }, (_, at) => kinds[at % 4]?.(at) ?? 0);
  values[9] = Number.NaN;
  const groups = Int32Array.from(values, (_, at) => (at % 11 === 0 ? -1 : at % 2));
  for (let at = 0; at < values.length; at += 1000) column.addColumn(groups, values, at, at + 1000);
  for (const [at, group] of groups.entries()) {
    if (group >= 0 && at !== 9) single.add(group, (values[at] ?? 0) + 0);
  }
  // Its state is merged in part, too.
  const merged = new Percentiles(new HeldBytes(), new ValueTotal());
  inOneStep(merged.merge(structuredClone(column.state(2)), Int32Array.of(0, 1)));
  for (const each of [column, single, merged]) inOneStep(each.finish(2));
  for (const group of [0, 1]) {
    expect([column.count(group), merged.count(group)]).toEqual([single.count(group), single.count(group)]);
    for (const permille of [1, 100, 500, 900, 999, 1000]) {
      const wanted = single.valueAt(group, permille);
      expect([column.valueAt(group, permille), merged.valueAt(group, permille)]).toEqual([wanted, wanted]);
    }
  }
});

function distinctOf(groups: readonly number[], parts: number, times = 1): Distinct {
  const whole = new Distinct(new HeldBytes(), new ValueTotal(), random);
  for (let part = 0; part < parts; part++) {
    const into = parts === 1 ? whole : new Distinct(new HeldBytes(), new ValueTotal(), random);
    for (const [group, count] of groups.entries()) {
      // Equal values are in different parts.
      for (let at = part; at < count * times; at += parts) into.add(group, hashOf(String((at * 11) % count)));
    }
    const own = Int32Array.from(groups, (_, group) => group);
    if (into !== whole) inOneStep(whole.merge(into.state(groups.length), own));
  }
  inOneStep(whole.finish(groups.length));
  return whole;
}

describe("distinct counts", () => {
  it("4: are exact for 50,000 values and estimated for 50,001, whatever the parts", () => {
    const sizes = [50_000, 50_001, 3, 0];
    const [whole, parted] = [distinctOf(sizes, 1, 2), distinctOf(sizes, 3, 2)];
    for (const counts of [whole, parted]) {
      expect(sizes.map((_, group) => counts.isExact(group))).toEqual([true, false, true, true]);
      expect([0, 2, 3].map((group) => counts.valueAt(group))).toEqual([50_000, 3, 0]);
    }
    const estimate = whole.valueAt(1);
    expect(Math.abs(estimate - 50_001)).toBeLessThan(50_001 * CARDINALITY_ERROR * 4);
    expect(parted.valueAt(1)).toBe(estimate);
  });

  it("4: are estimated for 1,000,001 different values in all groups, whatever the parts", () => {
    const sizes = Array.from({ length: 40 }, () => 25_000);
    const over = [...sizes, 1];
    const [whole, parted] = [distinctOf(over, 1), distinctOf(over, 3)];
    expect(over.map((_, group) => whole.isExact(group)).filter(Boolean)).toHaveLength(1);
    expect(over.map((_, group) => parted.valueAt(group))).toEqual(over.map((_, group) => whole.valueAt(group)));
    const errors = sizes.map((size, group) => Math.abs(whole.valueAt(group) - size) / size);
    expect(Math.max(...errors)).toBeLessThan(CARDINALITY_ERROR * 4);
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(CARDINALITY_ERROR * 1.5);
  });
});
