import { timeFormat } from "../../../lib/zone.ts";
import { between } from "../../explorer/view/range.ts";
import { visible } from "../../explorer/view/visible.ts";
import type { TimeSpan } from "../compare/spans-of-time.ts";
import { toolLink } from "../links.ts";
import type { Investigation } from "../use-investigation.ts";
import css from "./release-links.module.css";
import { releaseName, spanAfter } from "./releases.ts";
import { useReleases } from "./use-releases.ts";

const MOMENT = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

interface ReleaseLinksProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
}

/** Offers to compare the time before each release with the time after it. */
export function ReleaseLinks({ investigation, before, now }: ReleaseLinksProps) {
  const { workspaceId, projectId, view } = investigation;
  const span = before.end === now.start ? { start: before.start, end: now.end } : now;
  const bounds = { from: new Date(span.start).toISOString(), to: new Date(span.end).toISOString() };
  const releases = useReleases({ workspaceId, projectId, bounds, span, isWanted: true });
  if (releases.length === 0) return null;
  return (
    <nav class={css.releases} aria-label="Before and after a release">
      <span>Before / after</span>
      {releases.map((release) => {
        const { start, end } = spanAfter(release, releases, span);
        return (
          <a
            key={`${release.service} ${release.version}`}
            href={toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) })}
            aria-current={start === now.start ? "true" : undefined}
          >
            {visible(releaseName(release))} <time dateTime={new Date(start).toISOString()}>{MOMENT(start)}</time>
          </a>
        );
      })}
    </nav>
  );
}
