import { further, NAMED, nameWithTime, type Release, releaseLines, releaseName } from "../../../charts/releases.ts";
import { visible } from "../../../lib/visible.ts";
import type { MemberChange, ReleaseChanges } from "./release-changes.ts";

/** Members in the tooltip of one release. */
const TOLD = 3;
/** Characters of the name or a value of a member. */
const CHARACTERS = 60;

/** Returns the text of a link about releases: a line for each. */
export function releaseTooltip(releases: readonly Release[]): string {
  const [first = "", ...others] = releaseLines(releases);
  return others.length === 0 ? `Release ${first}` : ["Releases", first, ...others].join("\n");
}

/**
 * Returns the text of a mark's tooltip: its releases, what each changed, and what a click does.
 * @param changes by release; `null` until they are loaded
 */
export function markTooltip(releases: readonly Release[], changes: readonly ReleaseChanges[] | null): string {
  return [...markLines(releases, changes), clickText(releases.length)].join("\n");
}

/**
 * Returns what the tooltip of a mark says beside its name.
 * @param changes by release; `null` until they are loaded
 * @returns `undefined` until then
 */
export function markDescription(
  releases: readonly Release[],
  changes: readonly ReleaseChanges[] | null,
): string | undefined {
  if (changes === null) return undefined;
  const [first = "", ...others] = markLines(releases, changes);
  // The name of the mark has the line of a single release.
  return (releases.length === 1 ? others : [first, ...others]).join("; ");
}

/**
 * Returns the releases of a mark as its texts and its box list them: those that changed a setting first, as they are more likely to be the
 * cause of what follows them.
 */
export function changingFirst(
  releases: readonly Release[],
  changesOf: (release: Release) => ReleaseChanges | undefined,
): Release[] {
  const changing = releases.filter((release) => hasChanges(changesOf(release)));
  return [...changing, ...releases.filter((release) => !changing.includes(release))];
}

/** Returns the text beside a mark: its first release that changed a setting, and how many others did; empty for none. */
export function markLabel(
  releases: readonly Release[],
  changesOf: (release: Release) => ReleaseChanges | undefined,
): string {
  const [first, ...others] = releases.filter((release) => hasChanges(changesOf(release)));
  if (first === undefined) return "";
  const name = shortened(releaseName(first));
  return others.length === 0 ? name : `${name} +${others.length}`;
}

/** A mark's releases, and what each changed. */
function markLines(releases: readonly Release[], changes: readonly ReleaseChanges[] | null): string[] {
  const [only, ...others] = releases;
  if (only !== undefined && others.length === 0) {
    const told = changeTexts(changes?.[0], TOLD);
    const isKnown = changes !== null && told.length === 0;
    const none = isKnown
      ? [changes[0]?.previous == null ? "No version before it in the last 30 days" : "No changed setting found"]
      : [];
    return [`Release ${nameWithTime(only)}`, ...told, ...none];
  }
  const byRelease = new Map(releases.map((release, at) => [release, changes?.[at]]));
  const changesOf = (release: Release): ReleaseChanges | undefined => byRelease.get(release);
  const named = changingFirst(releases, changesOf)
    .slice(0, NAMED)
    .map((release) => {
      const sign = changes === null ? "" : `${signOf(changesOf(release))} `;
      const told = firstChange(changesOf(release));
      return told === "" ? `${sign}${nameWithTime(release)}` : `${sign}${nameWithTime(release)}: ${told}`;
    });
  return [...named, ...further(releases.length - named.length)];
}

/** What a click on a mark does. */
function clickText(count: number): string {
  return `Click for a menu: compare before and after, show ${count === 1 ? "its" : "their"} first entries`;
}

/** Whether a release came with a changed setting. */
export function hasChanges(changes: ReleaseChanges | undefined): boolean {
  return (changes?.members?.length ?? 0) > 0;
}

/** Returns the sign of a release in a text: a diamond if it came with a changed setting, as its mark. */
export function signOf(changes: ReleaseChanges | undefined): string {
  return hasChanges(changes) ? "\u25c6" : "\u25cf";
}

/** Returns the first setting that a release changed, and how many others; empty for none. */
export function firstChange(changes: ReleaseChanges | undefined): string {
  return changeTexts(changes, 1).join(", ");
}

/** Returns the first members that a release changed, and the number of others. */
function changeTexts(changes: ReleaseChanges | undefined, most: number): string[] {
  const members = changes?.members ?? [];
  return [...members.slice(0, most).map(changeText), ...further(members.length - most)];
}

/** `timeoutMs.nordpay 3000 → 300`, in one line, if it has room in most. */
function changeText(change: MemberChange): string {
  const { before, now } = valueTexts(change);
  return unbroken(`${shortened(change.name)} ${before}${now}`);
}

/** The texts of the values of a member, with the arrow at the first: both are in one line, unless they are long. */
export function valueTexts({ before, now }: MemberChange): { before: string; now: string } {
  const texts = { before: `${valueText(before)} \u2192 `, now: valueText(now) };
  return texts.before.length + texts.now.length <= UNBROKEN
    ? { before: unbroken(texts.before), now: unbroken(texts.now) }
    : texts;
}

/** Characters that have room in a line of most lists, also on a phone. */
const UNBROKEN = 40;

function unbroken(text: string): string {
  return text.length <= UNBROKEN ? text.replaceAll(" ", "\u00a0") : text;
}

/** The text of a value of a member before or after a release. */
function valueText(value: string | null): string {
  return value === null ? "none" : shortened(value);
}

/** A text of the sender for a place with room for a line. */
export function shortened(text: string): string {
  return visible(text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}\u2026` : text);
}
