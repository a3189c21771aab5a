import { timeFormat } from "../../../lib/zone.ts";
import { visible } from "../../explorer/view/visible.ts";
import { type Release, releaseName } from "./releases.ts";

const MOMENT = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
/** Releases of a mark that its name lists. */
const NAMED = 4;

/** Returns the name of a mark: its releases with their times. */
export function releaseNames(releases: readonly Release[]): string {
  const named = releases.slice(0, NAMED).map((release) => `${releaseName(release)}, ${MOMENT(release.at)}`);
  const more = releases.length - named.length;
  return visible([...named, ...(more > 0 ? [`${more} more`] : [])].join("; "));
}
