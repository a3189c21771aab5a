import { ByteReader, ByteWriter } from "../platform/varint.ts";
import type { Group } from "./group.ts";
import { familyOf, type MeasureFunction, type Part } from "./measure.ts";
import type { Step } from "./window-steps.ts";

/**
 * Groups as bytes: a version, then each group with its key, state and steps. Times, steps and `seq` are written as
 * differences, so a group of a few steps takes some 50 bytes beside its key.
 */

const VERSION = 1;
const STATUSES = ["ok", "pending", "firing"] as const;
const REPORTED = 4;
const DUE = 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param base a whole number near the times of the groups, epoch milliseconds */
export function packGroups(groups: readonly Group[], measure: MeasureFunction | null, base: number): Uint8Array {
  const writer = new ByteWriter();
  writer.varint(VERSION);
  writer.varint(groups.length);
  for (const { key, steps, lastAt, wholeFrom, status, since, isReported, due } of groups) {
    writer.blob(encoder.encode(key));
    writer.varint(STATUSES.indexOf(status) | (isReported ? REPORTED : 0) | (due === null ? 0 : DUE));
    writer.varint(lastAt === 0 ? 0 : 1);
    if (lastAt !== 0) writer.signed(lastAt - base);
    writer.signed(wholeFrom - base);
    writer.signed(since - base);
    if (due !== null) writer.varint(due);
    writer.varint(steps.length);
    let before = { at: 0, lastSeq: 0 };
    for (const step of steps) {
      writer.varint(step.at - before.at);
      writer.varint(step.count);
      writer.signed(step.firstSeq - before.lastSeq);
      writer.varint(step.lastSeq - step.firstSeq);
      if (measure !== null) packPart(writer, measure, step.part);
      before = step;
    }
  }
  return writer.finish();
}

export function unpackGroups(bytes: Uint8Array, measure: MeasureFunction | null, base: number): Group[] {
  const reader = new ByteReader(bytes);
  const version = reader.varint();
  if (version !== VERSION) throw new RangeError(`Groups of the version ${version} cannot be read.`);
  return Array.from({ length: reader.varint() }, (): Group => {
    const key = decoder.decode(reader.blob());
    const flags = reader.varint();
    const lastAt = reader.varint() === 0 ? 0 : reader.signed() + base;
    const wholeFrom = reader.signed() + base;
    const since = reader.signed() + base;
    const due = (flags & DUE) === 0 ? null : reader.varint();
    let [at, lastSeq] = [0, 0];
    const steps = Array.from({ length: reader.varint() }, (): Step => {
      at += reader.varint();
      const count = reader.varint();
      const firstSeq = lastSeq + reader.signed();
      lastSeq = firstSeq + reader.varint();
      return { at, count, firstSeq, lastSeq, part: measure === null ? null : unpackPart(reader, measure) };
    });
    const status = STATUSES[flags & 3] ?? "ok";
    return { key, steps, lastAt, wholeFrom, status, since, isReported: (flags & REPORTED) !== 0, due };
  });
}

/** Keys of a sketch are whole numbers in order, with counts; everything else are doubles. */
function packPart(writer: ByteWriter, measure: MeasureFunction, part: Part | null): void {
  const { numbers, level } = part ?? { numbers: [], level: 0 };
  writer.varint(level);
  writer.varint(numbers.length);
  if (!isSketch(measure, level)) {
    for (const number of numbers) writer.double(number);
    return;
  }
  let before = 0;
  for (let at = 0; at < numbers.length; at += 2) {
    const key = numbers[at] ?? 0;
    writer.signed(key - before);
    writer.varint(numbers[at + 1] ?? 0);
    before = key;
  }
}

function unpackPart(reader: ByteReader, measure: MeasureFunction): Part {
  const level = reader.varint();
  const length = reader.varint();
  if (!isSketch(measure, level)) return { level, numbers: Array.from({ length }, () => reader.double()) };
  const numbers: number[] = [];
  let key = 0;
  while (numbers.length < length) {
    key += reader.signed();
    numbers.push(key, reader.varint());
  }
  return { level, numbers };
}

function isSketch(measure: MeasureFunction, level: number): boolean {
  return level > 0 && familyOf(measure) === "percentile";
}
