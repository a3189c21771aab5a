import { listedNames } from "../../charts/releases.ts";
import { signsOf, useKnownChanges } from "../investigate/releases/known-changes.ts";
import type { MarkedReleases } from "../investigate/releases/release-marks.tsx";
import { firstChange } from "../investigate/releases/release-names.ts";
import css from "./board-releases.module.css";

/** The releases that the panels of a board mark, once for all of them. At its end, where they move nothing when they arrive. */
export function BoardReleases({ scope, releases }: Pick<MarkedReleases, "scope" | "releases">) {
  const { names, earlier } = listedNames(releases);
  const shown = releases.slice(earlier);
  // Also where no panel draws a mark, because nothing matches.
  const changesOf = useKnownChanges(scope, shown);
  if (releases.length === 0) return null;
  const changes = shown.map(changesOf);
  const signs = shown.map(signsOf(scope));
  return (
    <ul class={css.releases} aria-label="Releases of the board">
      {earlier === 0 ? null : <li>{earlier} earlier</li>}
      {names.map((name, at) => (
        <li key={at}>
          <span class={css.sign} aria-hidden="true">
            {signs[at]}
          </span>{" "}
          {name} <b>{firstChange(changes[at])}</b>
        </li>
      ))}
    </ul>
  );
}
