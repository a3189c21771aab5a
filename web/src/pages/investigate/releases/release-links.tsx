import { printFilter } from "../../../../../src/query-language/print.ts";
import { type Release, releaseName } from "../../../charts/releases.ts";
import { visible } from "../../../lib/visible.ts";
import { timeFormat } from "../../../lib/zone.ts";
import { Failure, Loading } from "../../../ui/states.tsx";
import { between } from "../../explorer/view/range.ts";
import { boundsOf, customSpan, spanView, type TimeSpan } from "../compare/spans-of-time.ts";
import { toolLink } from "../links.ts";
import type { Investigation } from "../use-investigation.ts";
import { releaseTest, STARTING_MS } from "./release-changes.ts";
import { ReleaseDifferences } from "./release-differences.tsx";
import css from "./release-links.module.css";
import { OFFERED, offeredSearch, spanAfter } from "./releases.ts";
import { useReleaseChanges } from "./use-release-changes.ts";
import { useReleases } from "./use-releases.ts";
import { type ReleaseScope, versionField } from "./version-fields.ts";

const MOMENT = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

interface ReleaseLinksProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
  /** False while the page loads what comes first. */
  isWanted: boolean;
}

/** Offers to compare the time before each release with the time after it, and tells what the one that is compared changed. */
export function ReleaseLinks({ investigation, before, now, isWanted }: ReleaseLinksProps) {
  const { workspaceId, projectId, view, own } = investigation;
  const shown = before.end === now.start ? { start: before.start, end: now.end } : now;
  const span = customSpan(own, OFFERED) ?? shown;
  const bounds = boundsOf(span);
  const releases = useReleases({ workspaceId, projectId, bounds, span, isWanted });
  if (releases.length === 0) return null;
  const offered = offeredSearch(span);
  const chosen = releases.find(({ at }) => at === now.start);
  return (
    <>
      <nav class={css.releases} aria-label="Before and after a release">
        <span>Releases</span>
        {releases.map((release) => {
          const { start, end } = spanAfter(release, releases, span);
          const key = `${release.service} ${release.version}`;
          const text = (
            <>
              {visible(releaseName(release))} <time dateTime={new Date(start).toISOString()}>{MOMENT(start)}</time>
            </>
          );
          return start === now.start ? (
            <span key={key} class={css.chosen} aria-current="true">
              {text}
            </span>
          ) : (
            <a
              key={key}
              href={`${toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) })}${offered}`}
            >
              {text}
            </a>
          );
        })}
      </nav>
      {chosen === undefined ? null : <ChosenRelease scope={{ workspaceId, projectId }} release={chosen} />}
    </>
  );
}

interface ChosenReleaseProps {
  scope: ReleaseScope;
  release: Release;
}

function ChosenRelease({ scope, release }: ChosenReleaseProps) {
  const field = versionField(scope);
  const { data, failure, reload } = useReleaseChanges(scope, field, [release]);
  const test = field === null ? null : releaseTest(field, release);
  const started = { start: release.at, end: release.at + STARTING_MS };
  const link = (query: string) => toolLink(scope.workspaceId, scope.projectId, null, spanView(query, started));
  const name = visible(releaseName(release));
  return (
    <section class={css.changes} aria-label={`What ${name} changed`}>
      <strong>{name}</strong>
      {data === null ? (
        failure === null ? (
          <Loading what="Comparing with the release before" />
        ) : null
      ) : (
        <ReleaseDifferences changes={data[0]} />
      )}
      {failure === null ? null : <Failure failure={failure} onRetry={reload} />}
      {test === null ? null : <a href={link(printFilter(test))}>Show its first entries</a>}
    </section>
  );
}
