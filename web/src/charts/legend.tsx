import { perSpan } from "../lib/span-text.ts";
import { visible } from "../lib/visible.ts";
import type { Drawn } from "./drawn.ts";
import { GroupNames } from "./group-names.tsx";
import css from "./legend.module.css";
import type { DrawnReleases } from "./releases.ts";
import { listedNames } from "./releases.ts";
import { toneClass } from "./tones.ts";

interface LegendProps {
  drawn: Drawn;
  measure: string;
  /** Key of the series that is drawn alone. */
  only: string | null;
  onOnly: (key: string | null) => void;
  /** Whether spans at the ends are lighter. */
  isCut: boolean;
  /** Whether lines are drawn in place of what was chosen. */
  isLines: boolean;
  /** Milliseconds of a span. */
  binMs: number;
}

/** The names of the series; a click on one shows it alone, or all again. */
export function Legend({ drawn, measure, only, onOnly, isCut, isLines, binMs }: LegendProps) {
  const { all, shown, summed, hidden } = drawn;
  const isAlone = shown.length < all.length;
  const per = <li class={css.more}>{perSpan(binMs)}</li>;
  return (
    <ul class={css.legend}>
      {/* Before several names, whose end may have no room; what is measured comes before it. */}
      {all.length > 1 ? per : null}
      {all.map(({ name, level, index, colour, key }) => (
        <li key={index} class={toneClass(level, colour)}>
          {all.length === 1 ? (
            <span class={css.series}>
              <span class={css.key} aria-hidden="true" />
              <span class={css.label}>{visible(name === "" ? measure : name)}</span>
            </span>
          ) : (
            <button
              type="button"
              class={css.series}
              aria-pressed={isAlone && key === only}
              data-off={isAlone && key !== only}
              title={`Only ${visible(name)}, or all again`}
              onClick={() => onOnly(isAlone && key === only ? null : key)}
            >
              <span class={`${css.key} ${isAlone && key !== only ? css.off : ""}`} aria-hidden="true" />
              <span class={css.label}>{visible(name)}</span>
            </button>
          )}
        </li>
      ))}
      {all.length > 1 ? null : per}
      {summed.length > 0 ? (
        <li class={css.more}>
          <GroupNames label="Names" name={`Names of the ${summed.length}`} names={summed} />
        </li>
      ) : null}
      {hidden.length > 0 ? (
        <li class={css.more}>
          <GroupNames label={`${hidden.length} more, not drawn`} names={hidden} />
        </li>
      ) : null}
      {isLines ? <li class={css.more}>Lines: these values cannot be added</li> : null}
      {isCut ? (
        <li class={css.more}>
          <span class={css.cut} aria-hidden="true" />
          Incomplete: cut by the range
        </li>
      ) : null}
    </ul>
  );
}

/**
 * The releases of a drawing with their times and the first setting that each changed. Its own name and the names of the signs have them,
 * too. Each is listed once that is known, so that nothing below the list moves twice.
 */
export function ListedReleases({ releases, signOf, changeOf }: ListedReleasesProps) {
  const { names, earlier } = listedNames(releases);
  const shown = releases.slice(earlier).flatMap((release, at) => {
    const sign = signOf(release);
    return sign === "" ? [] : [{ sign, name: names[at], change: changeOf(release) }];
  });
  if (shown.length === 0) return null;
  return (
    <ul class={css.named} aria-hidden="true">
      {earlier === 0 ? null : <li>{earlier} earlier</li>}
      {shown.map(({ sign, name, change }, at) => (
        <li key={at}>
          <span class={css.sign}>{sign}</span> {name} <b>{change}</b>
        </li>
      ))}
    </ul>
  );
}

type ListedReleasesProps = Pick<DrawnReleases, "releases"> & NonNullable<DrawnReleases["listed"]>;
