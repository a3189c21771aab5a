import { ByteReader, ByteWriter } from "../platform/varint.ts";
import type { Group } from "./group.ts";
import { cellsOfPart, familyOf, type MeasureFunction, type Part } from "./measure.ts";
import { cellsOfSteps, type Step } from "./window-steps.ts";

/**
 * Groups as bytes: a version, then each group with its key, state and steps. Times, steps and `seq` are written as
 * differences, so a group of a few steps takes some 50 bytes beside its key.
 */

const VERSION = 1;
const STATUSES = ["ok", "pending", "firing"] as const;
/** Numbers of a step beside its part, and bytes of a double. */
const NUMBERS_OF_STEP = 4;
const DOUBLE_BYTES = 8;
const REPORTED = 4;
const DUE = 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A group among packed ones, and what is known of it without reading its steps. */
export class PackedGroup {
  /** The bytes of the group: `start <= index < end`. */
  readonly start: number;
  readonly end: number;
  readonly status: Group["status"];
  readonly due: number | null;
  /** See `ALERT_LIMITS.groupCells`. */
  readonly cells: number;

  constructor({ start, end, status, due, cells }: Pick<PackedGroup, "start" | "end" | "status" | "due" | "cells">) {
    this.start = start;
    this.end = end;
    this.status = status;
    this.due = due;
    this.cells = cells;
  }
}

/**
 * Packs groups by key. Those that are packed already are copied.
 * @param from where the packed ones are
 * @param base a whole number near the times of the groups, epoch milliseconds
 * @returns the bytes, and the same groups in them
 */
export function packGroups(
  groups: ReadonlyMap<string, Group | PackedGroup>,
  from: Uint8Array,
  measure: MeasureFunction | null,
  base: number,
): { bytes: Uint8Array; packed: Map<string, PackedGroup> } {
  const writer = new ByteWriter();
  const packed = new Map<string, PackedGroup>();
  writer.varint(VERSION);
  writer.varint(groups.size);
  for (const [key, group] of groups) {
    const start = writer.length;
    if (group instanceof PackedGroup) writer.bytes(from.subarray(group.start, group.end));
    else packGroup(writer, group, measure, base);
    const { status, due } = group;
    const cells = group instanceof PackedGroup ? group.cells : cellsOfSteps({ measure }, group.steps);
    packed.set(key, new PackedGroup({ start, end: writer.length, status, due, cells }));
  }
  return { bytes: writer.finish(), packed };
}

function packGroup(
  writer: ByteWriter,
  { key, steps, lastAt, wholeFrom, status, since, isReported, due }: Group,
  measure: MeasureFunction | null,
  base: number,
): void {
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

/** Finds packed groups by key, without reading their steps. */
export function indexGroups(bytes: Uint8Array, measure: MeasureFunction | null): Map<string, PackedGroup> {
  const reader = new ByteReader(bytes);
  const version = reader.varint();
  if (version !== VERSION) throw new RangeError(`Groups of the version ${version} cannot be read.`);
  const packed = new Map<string, PackedGroup>();
  for (let left = reader.varint(); left > 0; left--) {
    const start = reader.at;
    const key = decoder.decode(reader.blob());
    const flags = reader.varint();
    // `lastAt`, `wholeFrom` and `since`.
    reader.skipVarints(reader.varint() === 0 ? 2 : 3);
    const due = (flags & DUE) === 0 ? null : reader.varint();
    const steps = reader.varint();
    let cells = 0;
    if (measure === null) reader.skipVarints(steps * NUMBERS_OF_STEP);
    for (let step = 0; measure !== null && step < steps; step++) {
      reader.skipVarints(NUMBERS_OF_STEP);
      cells += skipPart(reader, measure);
    }
    packed.set(key, new PackedGroup({ start, end: reader.at, status: statusOf(flags), due, cells }));
  }
  return packed;
}

/** Reads one of the groups that were found in bytes. */
export function unpackGroup(
  bytes: Uint8Array,
  { start, end }: PackedGroup,
  measure: MeasureFunction | null,
  base: number,
): Group {
  const reader = new ByteReader(bytes.subarray(start, end));
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
  const isReported = (flags & REPORTED) !== 0;
  return { key, steps, lastAt, wholeFrom, status: statusOf(flags), since, isReported, due };
}

function statusOf(flags: number): Group["status"] {
  return STATUSES[flags & 3] ?? "ok";
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

/** Passes over a part. @returns its cells */
function skipPart(reader: ByteReader, measure: MeasureFunction): number {
  const level = reader.varint();
  const length = reader.varint();
  if (isSketch(measure, level)) reader.skipVarints(length);
  else reader.skip(length * DOUBLE_BYTES);
  return cellsOfPart(measure, length, level);
}

function isSketch(measure: MeasureFunction, level: number): boolean {
  return level > 0 && familyOf(measure) === "percentile";
}
