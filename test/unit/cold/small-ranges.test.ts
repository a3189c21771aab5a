import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { readCached } from "../../../src/logs/cold/store/small-ranges.ts";
import type { FileRange } from "../../../src/platform/bucket.ts";

const key = `v1/ws/proj/${randomBytes(8).toString("hex")}`;
const file = new Uint8Array(randomBytes(20_000));

function counted() {
  const asked: string[] = [];
  const readRanges = async (ranges: readonly FileRange[]) =>
    ranges.map(({ key: own, start, end }) => {
      asked.push(`${start}-${end}`);
      return own === key && end <= file.length ? file.slice(start, end) : null;
    });
  return { bucket: { readRanges }, asked };
}

it("16.2: keeps small ranges of files, which the caller owns, and neither large nor missing ones", async () => {
  const { bucket, asked } = counted();
  const ranges = [
    { key, start: 0, end: 100 },
    { key, start: 0, end: 10_000 },
    { key: `${key}-gone`, start: 0, end: 100 },
    { key, start: 19_000, end: 19_500 },
  ];
  const expected = [file.slice(0, 100), file.slice(0, 10_000), null, file.slice(19_000, 19_500)];
  const first = await readCached(bucket, ranges);
  expect(first).toEqual(expected);
  for (const bytes of first) bytes?.fill(0);
  expect(asked.splice(0)).toEqual(["0-100", "0-10000", "0-100", "19000-19500"]);
  const second = await readCached(bucket, ranges);
  expect(second).toEqual(expected);
  expect(asked.splice(0)).toEqual(["0-10000", "0-100"]);
  for (const bytes of second) bytes?.fill(0);
  expect(await readCached(bucket, [...ranges].reverse())).toEqual([...expected].reverse());
  expect(await readCached(bucket, ranges.slice(0, 1))).toEqual(expected.slice(0, 1));
});
