import { listedNames } from "../../charts/releases.ts";
import { knownChanges } from "../investigate/releases/known-changes.ts";
import type { MarkedReleases } from "../investigate/releases/release-marks.tsx";
import { firstChange, signOf } from "../investigate/releases/release-names.ts";
import css from "./boards.module.css";

/** The releases that the panels of a board mark, once for all of them. At its end, where they move nothing when they arrive. */
export function BoardReleases({ scope, releases }: Pick<MarkedReleases, "scope" | "releases">) {
  if (releases.length === 0) return null;
  const { names, earlier } = listedNames(releases);
  const changesOf = knownChanges(scope);
  const changes = releases.slice(earlier).map(changesOf);
  return (
    <ul class={css.releases} aria-label="Releases of the board">
      {earlier === 0 ? null : <li>{earlier} earlier</li>}
      {names.map((name, at) => (
        <li key={at}>
          <span aria-hidden="true">{signOf(changes[at])}</span> {name} <b>{firstChange(changes[at])}</b>
        </li>
      ))}
    </ul>
  );
}
