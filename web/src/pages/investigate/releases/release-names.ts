import { timeFormat } from "../../../lib/zone.ts";
import { visible } from "../../explorer/view/visible.ts";
import { type Release, releaseName } from "./releases.ts";

/** Formats the time of a release. */
export const MOMENT = timeFormat({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
/** Releases of a mark that its name lists. */
const NAMED = 4;

/** Returns the releases of a mark with their times. */
export function releaseNames(releases: readonly Release[]): string {
  return lines(releases).join("; ");
}

/** Returns the newest releases without their times, the oldest of them first, for a place with room for a line. */
export function shortNames(releases: readonly Release[]): string {
  const more = Math.max(0, releases.length - NAMED);
  const names = releases.slice(-NAMED).map((release) => visible(releaseName(release)));
  return [...(more > 0 ? [`${more} earlier`] : []), ...names].join(", ");
}

/** Returns the text of a mark's tooltip: a line for each release. */
export function releaseTooltip(releases: readonly Release[]): string {
  const [first = "", ...others] = lines(releases);
  return others.length === 0 ? `Release ${first}` : ["Releases", first, ...others].join("\n");
}

function lines(releases: readonly Release[]): string[] {
  const named = releases.slice(0, NAMED).map((release) => visible(`${releaseName(release)}, ${MOMENT(release.at)}`));
  const more = releases.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])];
}
