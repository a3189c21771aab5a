import { visible } from "../lib/visible.ts";
import css from "./chart.module.css";
import type { Drawn } from "./drawn.ts";
import { GroupNames } from "./group-names.tsx";
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
}

/** The names of the series; a click on one shows it alone, or all again. */
export function Legend({ drawn, measure, only, onOnly, isCut, isLines }: LegendProps) {
  const { all, shown, summed, hidden } = drawn;
  const isAlone = shown.length < all.length;
  return (
    <ul class={css.legend}>
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

/** The releases of a drawing with their times. Its own name and the names of the signs have them, too. */
export function ListedReleases({ releases, signOf }: Required<Omit<DrawnReleases, "marks">>) {
  if (releases.length === 0) return null;
  const { names, earlier } = listedNames(releases);
  const signs = releases.slice(earlier).map(signOf);
  return (
    <ul class={css.named} aria-hidden="true">
      {earlier === 0 ? null : <li>{earlier} earlier</li>}
      {names.map((name, at) => (
        <li key={at}>
          <span class={css.sign}>{signs[at]}</span> {name}
        </li>
      ))}
    </ul>
  );
}
