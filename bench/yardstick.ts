import { entryAt } from "./entries.ts";
import { median } from "./stats.ts";

const CALLS = 50_000;
const ROUNDS = 9;

/** CPU microseconds of work that no code of this project has a part in, on one entry of the bench. */
export interface Yardstick {
  parse: number;
  stringify: number;
}

/** The machine that the absolute targets were set on. */
export const TARGETS_YARDSTICK: Yardstick = { parse: 0.6, stringify: 0.7 };

/** How fast this machine runs JavaScript, to hold its absolute figures against those of another one. */
export function yardstick(): Yardstick {
  const entry = entryAt(0, Date.UTC(2026, 0, 1));
  const text = JSON.stringify(entry);
  return { parse: micros(() => JSON.parse(text)), stringify: micros(() => JSON.stringify(entry)) };
}

/** How many times longer it takes here. */
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
