import { timeFormat } from "../../../lib/zone.ts";
import { between } from "../../explorer/view/range.ts";
import { visible } from "../../explorer/view/visible.ts";
import { boundsOf, customSpan, type TimeSpan } from "../compare/spans-of-time.ts";
import { toolLink } from "../links.ts";
import type { Investigation } from "../use-investigation.ts";
import css from "./release-links.module.css";
import { OFFERED, offeredSearch, releaseName, spanAfter } from "./releases.ts";
import { useReleases } from "./use-releases.ts";

const MOMENT = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

interface ReleaseLinksProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
}

/** Offers to compare the time before each release with the time after it. */
export function ReleaseLinks({ investigation, before, now }: ReleaseLinksProps) {
  const { workspaceId, projectId, view, own } = investigation;
  const [from, to] = OFFERED;
  const shown = before.end === now.start ? { start: before.start, end: now.end } : now;
  const span = customSpan(own.get(from), own.get(to)) ?? shown;
  const bounds = boundsOf(span);
  const releases = useReleases({ workspaceId, projectId, bounds, span, isWanted: true });
  if (releases.length === 0) return null;
  const offered = offeredSearch(span);
  return (
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
  );
}
