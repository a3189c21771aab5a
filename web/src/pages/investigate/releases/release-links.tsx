import type { RefObject } from "preact";
import { timeFormat } from "../../../lib/zone.ts";
import { between } from "../../explorer/view/range.ts";
import { visible } from "../../explorer/view/visible.ts";
import type { TimeSpan } from "../compare/spans-of-time.ts";
import { toolLink } from "../links.ts";
import type { Investigation } from "../use-investigation.ts";
import css from "./release-links.module.css";
import { type Release, releaseName, spanAfter } from "./releases.ts";
import { useReleases } from "./use-releases.ts";

const MOMENT = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

/** The releases of which one was chosen. */
export interface OfferedReleases {
  /** Workspace and project. */
  of: string;
  releases: readonly Release[];
  span: TimeSpan;
}

interface ReleaseLinksProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
  /** Kept by the page, because a choice shows a shorter span, which has no more than one of them. */
  offered: RefObject<OfferedReleases | null>;
}

/** Offers to compare the time before each release with the time after it. */
export function ReleaseLinks({ investigation, before, now, offered }: ReleaseLinksProps) {
  const { workspaceId, projectId, view } = investigation;
  const shown = before.end === now.start ? { start: before.start, end: now.end } : now;
  const bounds = { from: new Date(shown.start).toISOString(), to: new Date(shown.end).toISOString() };
  const found = useReleases({ workspaceId, projectId, bounds, span: shown, isWanted: true });
  const of = `${workspaceId} ${projectId}`;
  const isChosen = ({ start, end }: TimeSpan): boolean => start === now.start && end === now.end;
  const last = offered.current;
  const isKept =
    last?.of === of && last.releases.some((release) => isChosen(spanAfter(release, last.releases, last.span)));
  const { releases, span } = isKept ? last : { releases: found, span: shown };
  if (releases.length === 0) return null;
  return (
    <nav class={css.releases} aria-label="Before and after a release">
      <span>Releases</span>
      {releases.map((release) => {
        const { start, end } = spanAfter(release, releases, span);
        return (
          <a
            key={`${release.service} ${release.version}`}
            href={toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) })}
            aria-current={start === now.start ? "true" : undefined}
            onClick={() => {
              offered.current = { of, releases, span };
            }}
          >
            {visible(releaseName(release))} <time dateTime={new Date(start).toISOString()}>{MOMENT(start)}</time>
          </a>
        );
      })}
    </nav>
  );
}
