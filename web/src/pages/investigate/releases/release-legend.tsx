import type { ComponentChildren } from "preact";
import type { MarkPlace } from "../../../charts/releases.ts";
import { knownChanges, settledReleases } from "./known-changes.ts";
import css from "./release-legend.module.css";
import type { MarkedReleases } from "./release-marks.tsx";
import { hasChanges } from "./release-names.ts";
import { placedGroups } from "./release-places.ts";

type ReleaseLegendProps = Pick<MarkedReleases, "scope" | "releases"> & MarkPlace;

/** Says in one line what the marks of a drawing are: those kinds that are drawn. */
export function ReleaseLegend({ scope, releases, ...place }: ReleaseLegendProps) {
  const [changesOf, isSettled] = [knownChanges(scope), settledReleases(scope)];
  const groups = placedGroups(releases, place).filter(({ releases }) => releases.every(isSettled));
  if (groups.length === 0) return null;
  const changed = groups.flatMap(({ releases }) => releases.map((release) => hasChanges(changesOf(release))));
  const hasPlain = changed.includes(false);
  return (
    <span class={css.legend}>
      {hasPlain ? (
        <Kind name="release">
          <path d="M6 5V16" class={css.dashed} />
          <circle cx="6" cy="5" r="4" />
        </Kind>
      ) : null}
      {changed.includes(true) ? (
        <Kind name={hasPlain ? "with a changed setting" : "release with a changed setting"}>
          <path d="M6 5V16" class={css.solid} />
          <path d="M6-1 12 5 6 11 0 5Z" />
        </Kind>
      ) : null}
      {groups.some(({ places }) => places.length > 1) ? (
        <Kind name="several releases">
          <circle cx="6" cy="8" r="6" />
          <text x="6" y="11.5" class={css.count}>
            2
          </text>
        </Kind>
      ) : null}
    </span>
  );
}

function Kind({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <span class={css.kind}>
      <svg class={css.sign} viewBox="0 -1 12 17" aria-hidden="true">
        {children}
      </svg>
      {name}
    </span>
  );
}
