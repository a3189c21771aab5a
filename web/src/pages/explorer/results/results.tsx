import type { ComponentChildren } from "preact";
import type { LogEntry } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import type { FilterPatch } from "../filters.ts";
import { EntryList } from "./entry-list.tsx";
import css from "./results.module.css";

interface ResultsProps {
  entries: readonly LogEntry[];
  /** What they were asked for by: the list of another query begins at its top. */
  query?: string;
  busy: boolean;
  /** What was asked for at the end has failed. */
  hasFailed?: boolean;
  hasMore: boolean;
  /** Called as the end comes near, once for each last entry, and by the button there. */
  onMore: () => void;
  onFilter: (patch: FilterPatch) => void;
  onContext: (entry: LogEntry) => void;
  /** Names by project id; each row is given its own where there are several. */
  projectNames?: ReadonlyMap<string, string>;
  /** Instead of the list where there is nothing to show. */
  empty?: ComponentChildren;
  /** An address that shows an entry. */
  linkTo?: (entry: LogEntry) => string;
}

/** What a query or a tail found. */
export function Results(props: ResultsProps) {
  const { entries, busy, hasMore, onMore, hasFailed = false, empty } = props;
  if (entries.length === 0 && !hasMore) {
    if (busy) return <Loading what="Searching" />;
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
