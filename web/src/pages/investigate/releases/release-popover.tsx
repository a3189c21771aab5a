import { GitCompareArrows, ListFilter, ZoomIn } from "lucide";
import { printFilter } from "../../../../../src/query-language/print.ts";
import { MOMENT, type Release, releaseName } from "../../../charts/releases.ts";
import type { Loaded } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { PopoverBox, type PopoverBoxProps } from "../../../ui/popup/popover-box.tsx";
import { Failure, Loading } from "../../../ui/states.tsx";
import { type ReleaseChanges, releaseTest, STARTING_MS } from "./release-changes.ts";
import { ReleaseDifferences } from "./release-differences.tsx";
import css from "./release-popover.module.css";

/** Milliseconds around a release that are zoomed to. */
const CLOSE_MS = 5 * 60_000;

/** What a reader of a drawing can do with a release. */
export interface ReleaseActs {
  /** Compares the time before the release with the time after it; absent: the page cannot. */
  onCompare?: ((release: Release) => void) | undefined;
  /** Shows the entries of a query in a range, epoch milliseconds. */
  onShow: (query: string, start: number, end: number) => void;
  /** Absent: the drawing keeps its times. */
  onZoom?: ((start: number, end: number) => void) | undefined;
}

interface ReleasePopoverProps extends ReleaseActs {
  /** Field with versions, as queries name it. */
  field: string;
  /** In the order of their list. */
  releases: readonly Release[];
  /** That of a release alone. */
  signOf: (release: Release) => string;
  /** What the first releases changed. The others are counted. */
  changes: Loaded<ReleaseChanges[]>;
  /** Number of releases that are listed. */
  listed: number;
  triggerId: string;
  label: string;
  placement: PopoverBoxProps["placement"];
  anchor: () => DOMRect | null;
  onClose: () => void;
}

/** The releases of a mark: what each changed, and the ways to its entries. */
export function ReleasePopover({ field, releases, signOf, changes, listed, ...rest }: ReleasePopoverProps) {
  const { triggerId, label, placement, anchor, onClose, ...acts } = rest;
  const { data, failure, reload } = changes;
  return (
    <PopoverBox triggerId={triggerId} label={label} placement={placement} anchor={anchor} onClose={onClose}>
      <div class={css.releases}>
        {releases.slice(0, listed).map((release, at) => (
          <section key={`${release.service} ${release.version}`} class={css.release}>
            <h3 class={css.name}>
              {releases.length === 1 ? null : <span aria-hidden="true">{signOf(release)} </span>}
              {visible(releaseName(release))}{" "}
              <time dateTime={new Date(release.at).toISOString()}>{MOMENT(release.at)}</time>
            </h3>
            {/* First, so that what arrives moves no button under the pointer. */}
            <Acts field={field} release={release} onClose={onClose} {...acts} />
            {data === null ? (
              failure === null ? (
                <Loading what="Comparing with the release before" />
              ) : null
            ) : (
              <ReleaseDifferences changes={data[at]} />
            )}
          </section>
        ))}
        {releases.length > listed ? <p class={css.quiet}>{releases.length - listed} more: zoom in.</p> : null}
        {failure === null ? null : <Failure failure={failure} onRetry={reload} />}
      </div>
    </PopoverBox>
  );
}

interface ActsProps extends ReleaseActs {
  field: string;
  release: Release;
  onClose: () => void;
}

function Acts({ field, release, onClose, onCompare, onShow, onZoom }: ActsProps) {
  const test = releaseTest(field, release);
  const closing = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <div class={css.acts}>
      {onCompare === undefined ? null : (
        <Button small icon={GitCompareArrows} onClick={closing(() => onCompare(release))}>
          Compare before and after
        </Button>
      )}
      {test === null ? null : (
        <Button
          small
          icon={ListFilter}
          onClick={closing(() => onShow(printFilter(test), release.at, release.at + STARTING_MS))}
        >
          Show its first entries
        </Button>
      )}
      {onZoom === undefined ? null : (
        <Button small icon={ZoomIn} onClick={closing(() => onZoom(release.at - CLOSE_MS, release.at + CLOSE_MS))}>
          Zoom
        </Button>
      )}
    </div>
  );
}
