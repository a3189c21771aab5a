import { entryAt } from "./entries.ts";
import { median } from "./stats.ts";

const CALLS = 50_000;
const ROUNDS = 9;

/** CPU microseconds of work without any code of this project, on one entry of the bench. */
export interface Yardstick {
  parse: number;
  stringify: number;
}

/** The machine for which the absolute targets were set. */
export const TARGETS_YARDSTICK: Yardstick = { parse: 0.6, stringify: 0.7 };

/** The speed of JavaScript on this machine, to compare its absolute figures with those of another machine. */
export function yardstick(): Yardstick {
  const entry = entryAt(0, Date.UTC(2026, 0, 1));
  const text = JSON.stringify(entry);
  return { parse: micros(() => JSON.parse(text)), stringify: micros(() => JSON.stringify(entry)) };
}

/** The factor by which it takes longer here. */
export function slowness({ parse, stringify }: Yardstick): number {
  return Math.sqrt((parse / TARGETS_YARDSTICK.parse) * (stringify / TARGETS_YARDSTICK.stringify));
}

function micros(work: () => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let call = 0; call < CALLS; call++) work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / CALLS;
  });
  return median(rounds);
}
