import { axisTime } from "../lib/axis-time.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Milliseconds between two times below a chart. */
const TICK_STEPS = [
  ...[1000, 5000, 15_000, 30_000, MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY],
];
const MAX_TICKS = 7;

/**
 * Returns times for the axis of a range: whole hours, minutes or days of a zone, at most 7.
 * @param offsetMs of the zone: local time minus UTC
 */
export function ticksOf(from: number, to: number, offsetMs: number): { times: number[]; stepMs: number } {
  const stepMs = TICK_STEPS.find((step) => (to - from) / step <= MAX_TICKS) ?? (to - from) / MAX_TICKS;
  const times: number[] = [];
  for (let at = Math.ceil((from + offsetMs) / stepMs) * stepMs - offsetMs; at < to; at += stepMs) times.push(at);
  return { times, stepMs };
}

/** Pixels of a character of a label, and between two labels, at least. */
const CHARACTER = 6.2;
const APART = 6;

/** A time below a drawing. */
export interface AxisLabel {
  time: number;
  text: string;
  /** The edge at which the label begins or ends at its tick, because it would reach beyond it. */
  edge: "start" | "end" | undefined;
}

/**
 * Returns the times below a drawing that have room beside each other.
 * @param width pixels of the drawing; with 0, there are none
 * @param end text at its end, which keeps its room
 */
export function axisLabels(from: number, to: number, offsetMs: number, width: number, end = ""): AxisLabel[] {
  const { times, stepMs } = ticksOf(from, to, offsetMs);
  const room = end === "" ? width : width - CHARACTER * end.length - APART;
  let taken = -APART;
  return times.flatMap((time): AxisLabel[] => {
    const text = axisTime(time, stepMs);
    const length = CHARACTER * text.length;
    const place = ((time - from) / (to - from)) * width;
    const edge = place < length / 2 ? "start" : place > width - length / 2 ? "end" : undefined;
    const left = edge === undefined ? place - length / 2 : edge === "start" ? place : place - length;
    if (left < taken + APART || left + length > room) return [];
    taken = left + length;
    return [{ time, text, edge }];
  });
}
