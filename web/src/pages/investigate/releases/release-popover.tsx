import { GitCompareArrows, ListFilter, ZoomIn } from "lucide";
import { printFilter } from "../../../../../src/query-language/print.ts";
import { Button } from "../../../ui/button.tsx";
import { PopoverBox } from "../../../ui/popup/popover-box.tsx";
import { Failure, Loading } from "../../../ui/states.tsx";
import { visible } from "../../explorer/view/visible.ts";
import { releaseTest, STARTING_MS } from "./release-changes.ts";
import { ReleaseDifferences, useReleaseChanges } from "./release-differences.tsx";
import { MOMENT } from "./release-names.ts";
import css from "./release-popover.module.css";
import { type Release, releaseName } from "./releases.ts";

/** Releases of one mark that are listed: their queries fit into one request. */
const LISTED = 6;
/** Milliseconds around a release that are zoomed to. */
const CLOSE_MS = 5 * 60_000;

/** What a reader of the histogram can do with a release. */
export interface ReleaseActs {
  /** Compares the time before the release with the time after it; absent: the page cannot. */
  onCompare?: ((release: Release) => void) | undefined;
  /** Shows the entries of a query in a range, epoch milliseconds. */
  onShow: (query: string, start: number, end: number) => void;
  onZoom: (start: number, end: number) => void;
}

interface ReleasePopoverProps extends ReleaseActs {
  workspaceId: string;
  projectId: string | null;
  /** Field with versions, as queries name it. */
  field: string;
  /** By time. */
  releases: readonly Release[];
  triggerId: string;
  label: string;
  anchor: () => DOMRect | null;
  onClose: () => void;
}

/** The releases of a mark: what each changed, and the ways to its entries. */
export function ReleasePopover({ workspaceId, projectId, field, releases, ...rest }: ReleasePopoverProps) {
  const { triggerId, label, anchor, onClose, ...acts } = rest;
  const listed = releases.slice(0, LISTED);
  const loaded = useReleaseChanges({ workspaceId, projectId }, field, listed);
  return (
    <PopoverBox triggerId={triggerId} label={label} placement="bottom" anchor={anchor} onClose={onClose}>
      <div class={css.releases}>
        {listed.map((release, at) => (
          <section key={`${release.service} ${release.version}`} class={css.release}>
            <h3 class={css.name}>
              {visible(releaseName(release))}{" "}
              <time dateTime={new Date(release.at).toISOString()}>{MOMENT(release.at)}</time>
            </h3>
            {loaded.data === null ? (
              loaded.failure === null ? (
                <Loading what="Comparing with the release before" />
              ) : null
            ) : (
              <ReleaseDifferences changes={loaded.data[at]} />
            )}
            <Acts field={field} release={release} onClose={onClose} {...acts} />
          </section>
        ))}
        {releases.length > LISTED ? <p class={css.quiet}>{releases.length - LISTED} more: zoom in.</p> : null}
        {loaded.failure === null ? null : <Failure failure={loaded.failure} onRetry={loaded.reload} />}
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
          Show its start-up entries
        </Button>
      )}
      <Button small icon={ZoomIn} onClick={closing(() => onZoom(release.at - CLOSE_MS, release.at + CLOSE_MS))}>
        Zoom
      </Button>
    </div>
  );
}
