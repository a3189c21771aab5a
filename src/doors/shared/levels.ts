import type { Level } from "../../logs/entry.ts";

/** A level of another system, as one of the service's. */
export interface ReadLevel {
  level: Level;
  /** Whether the level says all that was sent. If not, the sent level is kept with the entry. */
  isExact: boolean;
}

/** Names of levels in lower case, each with those that mean the same. */
const SAME: Readonly<Record<Level, readonly string[]>> = {
  trace: ["trace", "trc", "t", "finest"],
  debug: ["debug", "dbg", "d", "fine"],
  log: ["log"],
  info: ["info", "inf", "i", "information", "informational"],
  warn: ["warn", "warning", "wrn", "w"],
  error: ["error", "err", "e", "severe"],
  fatal: ["fatal", "ftl", "f"],
};

/** Names that mean more than the level that is next to them. */
const NEAR: Readonly<Partial<Record<Level, readonly string[]>>> = {
  trace: ["finer", "verbose", "v", "silly"],
  debug: ["config"],
  info: ["notice", "note", "n", "default", "ok", "success", "http"],
  fatal: ["critical", "crit", "c", "alert", "emergency", "emerg", "panic", "dpanic"],
};

const BY_NAME = new Map<string, ReadLevel>();
for (const [names, isExact] of [
  [SAME, true],
  [NEAR, false],
] as const) {
  // SAFETY: the keys of both tables are levels.
  for (const [level, list] of Object.entries(names) as [Level, readonly string[]][]) {
    for (const name of list) BY_NAME.set(name, { level, isExact });
  }
}

/**
 * The numbers of a system. `pino`: 10 to 60, also of bunyan. `python`: 10 to 50, ten less than pino means. `syslog`: 0
 * (emergency) to 7 (debug), also of GELF and journald. `otlp`: 1 to 24. `any`: syslog below 8, pino from 10.
 */
export type LevelScale = "any" | "pino" | "python" | "syslog" | "otlp";

const SYSLOG: readonly ReadLevel[] = [
  { level: "fatal", isExact: false },
  { level: "fatal", isExact: false },
  { level: "fatal", isExact: false },
  { level: "error", isExact: true },
  { level: "warn", isExact: true },
  { level: "info", isExact: false },
  { level: "info", isExact: true },
  { level: "debug", isExact: true },
];
const SIX: readonly Level[] = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Returns the level of a name in any case, or of a number as text; `null` for any other text. */
export function levelOfName(name: string, scale: LevelScale = "any"): ReadLevel | null {
  const known = BY_NAME.get(name) ?? BY_NAME.get(name.trim().toLowerCase());
  if (known !== undefined) return known;
  return /^\d{1,2}$/.test(name) ? levelOfNumber(Number(name), scale) : null;
}

/** Returns the level of a number; `null` if it is outside the scale. */
export function levelOfNumber(value: number, scale: LevelScale = "any"): ReadLevel | null {
  switch (scale) {
    case "syslog":
      return SYSLOG[value] ?? null;
    case "otlp":
      return Number.isInteger(value) ? stepOf(value - 1, 4) : null;
    case "pino":
      return stepOf(value - 10, 10);
    case "python":
      return stepOf(value, 10);
    case "any":
      return value < 8 ? (SYSLOG[value] ?? null) : stepOf(value - 10, 10);
  }
}

function stepOf(value: number, step: number): ReadLevel | null {
  const level = SIX[Math.floor(value / step)];
  return level === undefined ? null : { level, isExact: value % step === 0 };
}

/** Returns the level of any value; `null` if it is not a level. */
export function levelOf(value: unknown, scale: LevelScale = "any"): ReadLevel | null {
  if (typeof value === "string") return levelOfName(value, scale);
  return typeof value === "number" ? levelOfNumber(value, scale) : null;
}
