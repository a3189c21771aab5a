import type { ComponentChildren } from "preact";
import type { LogEntry } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import type { FilterPatch } from "../filters.ts";
import type { Column } from "../view/columns.ts";
import { EntryList, type EntryListProps } from "./entry-list.tsx";
import { hasTwoLines, isCrowded, usualWidth } from "./list-widths.ts";
import css from "./results.module.css";

interface ResultsProps extends Pick<EntryListProps, "columns" | "onColumns" | "shown" | "onShown" | "onOpen"> {
  entries: readonly LogEntry[];
  /** Query of the entries. The list of a new query starts at its top. */
  query?: string;
  busy: boolean;
  /** Whether the next page failed to load. */
  hasFailed?: boolean;
  hasMore: boolean;
  /** Requests the next page: called near the end, once for each last entry, and by the button there. */
  onMore: () => void;
  onFilter: (patch: FilterPatch) => void;
  onContext: (entry: LogEntry) => void;
  /** Names by project id, shown if the entries are of several projects. */
  projectNames?: ReadonlyMap<string, string>;
  /** Shown instead of an empty list. */
  empty?: ComponentChildren;
  /** Returns the address of a page that shows an entry. */
  linkTo?: (entry: LogEntry) => string;
}

/** The entries of a query or a tail. */
export function Results(props: ResultsProps) {
  const { entries, busy, hasMore, onMore, hasFailed = false, empty } = props;
  if (entries.length === 0 && !hasMore) {
    if (busy) {
      return (
        <div data-crowded={expectedCrowd(props.columns ?? [])}>
          <Loading what="Searching" />
        </div>
      );
    }
    return empty ?? <Empty title="Nothing found" />;
  }
  return (
    <EntryList
      label="Log entries"
      entries={entries}
      query={props.query}
      projectNames={props.projectNames}
      follow
      hasMore={hasMore}
      isIdle={!busy && !hasFailed}
      onNearEnd={onMore}
      onFilter={props.onFilter}
      onContext={props.onContext}
      linkTo={props.linkTo}
      columns={props.columns}
      onColumns={props.onColumns}
      shown={props.shown}
      onShown={props.onShown}
      onOpen={props.onOpen}
      foot={
        hasMore || busy ? (
          <div class={css.foot}>
            <Button small busy={busy} onClick={onMore}>
              {busy ? "Loading …" : "Load more"}
            </Button>
          </div>
        ) : null
      }
    />
  );
}

/** Whether the list that is loading will have room for its state in its head, which then has its place from the start; absent without a head. */
function expectedCrowd(columns: readonly Column[]): boolean | undefined {
  const width = usualWidth();
  return hasTwoLines(width, false) ? undefined : isCrowded(width, false, columns);
}
