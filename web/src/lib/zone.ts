import { signal } from "@preact/signals";
import { keep } from "./keep.ts";

/** The time zone in which the explorer shows and reads times. */

const KEY = "taffrail.zone";
const CLOCK_KEY = "taffrail.clock";
const RECENT_KEY = "taffrail.zones";
/** Zones that are offered again. */
const RECENT = 4;

/** Name of the browser's zone: `Europe/Berlin`. */
export const BROWSER_ZONE: string = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** An IANA name. */
export const zone = signal(storedZone());
/** Whether hours are counted to 12, in locales that do. */
export const isTwelveHour = signal(stored(CLOCK_KEY) === "12");

export function setZone(next: string): void {
  zone.value = next;
  keep(RECENT_KEY, [next, ...recentZones().filter((name) => name !== next)].slice(0, RECENT).join(" "));
  keep(KEY, next === BROWSER_ZONE ? null : next);
}

/** Zones chosen before, the last one first. */
export function recentZones(): string[] {
  return (stored(RECENT_KEY) ?? "").split(" ").filter(isZone);
}

export function setTwelveHour(next: boolean): void {
  isTwelveHour.value = next;
  keep(CLOCK_KEY, next ? "12" : null);
}

/** Whether the locale's own clock counts hours to 12. */
export function localeCountsTo12(): boolean {
  const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions();
  return hourCycle === "h12" || hourCycle === "h11";
}

/** Short name of a zone: `UTC`, `Berlin`. */
export function zoneLabel(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).replaceAll("_", " ");
}

/**
 * Returns a function that formats times in the chosen zone. Times of day have 24 hours unless the locale and the reader want
 * 12. Reading the zone in a render subscribes to it.
 */
export function timeFormat(options: Intl.DateTimeFormatOptions): (time: number | Date) => string {
  let made: { of: string; format: Intl.DateTimeFormat } | null = null;
  return (time) => {
    const of = `${zone.value} ${isTwelveHour.value}`;
    if (made?.of !== of) {
      const clock = options.hour === undefined && options.timeStyle === undefined;
      const cycle = clock ? {} : { hourCycle: isTwelveHour.value ? ("h12" as const) : ("h23" as const) };
      made = { of, format: new Intl.DateTimeFormat(undefined, { ...options, ...cycle, timeZone: zone.value }) };
    }
    return made.format.format(time);
  };
}

function storedZone(): string {
  const name = stored(KEY);
  return name !== null && isZone(name) ? name : BROWSER_ZONE;
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: name });
    return name !== "";
  } catch {
    return false;
  }
}

function stored(key: string): string | null {
  return globalThis.localStorage?.getItem(key) ?? null;
}
