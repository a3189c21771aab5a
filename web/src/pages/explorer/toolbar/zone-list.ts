import { offsetAt } from "../../../lib/wall-time.ts";

/** A time zone to choose. */
export interface ZoneItem {
  /** An IANA name. */
  name: string;
  /** Minutes by which its clock is ahead of UTC now. */
  offset: number;
}

/** Zones of these names in their order, without repetitions. */
export function zoneItems(names: readonly string[], now: number): ZoneItem[] {
  return [...new Set(names)].map((name) => ({ name, offset: Math.round(offsetAt(now, name) / 60_000) }));
}

/** `+09:00`. */
export function offsetText(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const ahead = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
}

const OFFSET = /^(?:utc|gmt)? ?([+−-]) ?(\d{1,2})(?::?(\d{2}))?$/;

/**
 * Zones that a text finds: by a part of the name, of which those at the start of a word come first, or by the offset
 * (`+9`, `UTC-03:30`).
 */
export function foundZones(zones: readonly ZoneItem[], text: string): ZoneItem[] {
  const typed = plain(text.trim());
  if (typed === "") return [...zones];
  const [, sign, hours, minutes] = OFFSET.exec(typed) ?? [];
  if (sign !== undefined) {
    return zones.filter(({ offset }) => {
      const isSide = offset === 0 || offset < 0 === (sign !== "+");
      const ahead = Math.abs(offset);
      return isSide && Math.floor(ahead / 60) === Number(hours) && (!minutes || ahead % 60 === Number(minutes));
    });
  }
  const isStart = ({ name }: ZoneItem): boolean => ` ${plain(name)}`.replaceAll("/", " ").includes(` ${typed}`);
  const found = zones.filter(({ name }) => plain(name).includes(typed));
  return [...found.filter(isStart), ...found.filter((zone) => !isStart(zone))];
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll("_", " ");
}
