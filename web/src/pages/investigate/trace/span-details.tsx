import { useLocation } from "preact-iso";
import { visible } from "../../../lib/visible.ts";
import type { LogEntry, Project } from "../../../model/types.ts";
import { LevelMark } from "../../explorer/histogram/level-mark.tsx";
import { Details } from "../../explorer/results/details.tsx";
import { patched } from "../../explorer/view/patched.ts";
import { entryLink } from "../../explorer/view/shown-entry.ts";
import { lengthText } from "../length-text.ts";
import { toolLink, viewOf } from "../links.ts";
import type { Source, Span } from "./spans.ts";
import css from "./trace.module.css";

/** Where the length of a span comes from, after the length. */
const SOURCES: Readonly<Record<Exclude<Source, "moment">, string>> = {
  stated: "as its entry states",
  duration: "as the entry at its end states",
  entries: "from its first to its last entry",
};

/** Entries of a span in its list. */
const LISTED = 200;
/** Part of a span from which the time between two of its entries is shown. */
const GAP = 0.1;

interface SpanDetailsProps {
  workspaceId: string;
  span: Span;
  /** Id of the entry that is shown. */
  shown: string;
  /** Start of the trace, epoch milliseconds. */
  start: number;
  projects: readonly Project[];
  /** Shows another entry of the span. */
  onShow: (entryId: string) => void;
}

/** What is known about a span, and its entries. */
export function SpanDetails({ workspaceId, span, shown, start, projects, onShow }: SpanDetailsProps) {
  const { route } = useLocation();
  const entry = span.entries.find(({ id }) => id === shown) ?? span.entry;
  return (
    <>
      <h2 class={css.spanTitle}>{visible(span.entry.message.slice(0, 200))}</h2>
      <p class={css.hint}>
        {span.source === "moment"
          ? "No entry says how long this took."
          : `Took ${lengthText(span.end - span.start)}, ${SOURCES[span.source]}.`}{" "}
        {span.start === start
          ? "Began with the trace."
          : `Began at +${lengthText(span.start - start).replaceAll(" ", "\u00a0")}.`}
      </p>
      {span.entries.length < 2 ? null : (
        <ol class={css.entries} aria-label="Entries of the span">
          {span.entries.slice(0, LISTED).map((each, at) => (
            <li key={each.id}>
              <button type="button" aria-current={each.id === entry.id} onClick={() => onShow(each.id)}>
                <span class={css.offset}>+{lengthText(Math.max(0, Date.parse(each.timestamp) - start))}</span>
                <LevelMark level={each.level} />
                <span class={css.entryText}>{visible(each.message.slice(0, 200))}</span>
              </button>
              <Gap entry={each} next={span.entries[at + 1]} least={GAP * (span.end - span.start)} />
            </li>
          ))}
          {span.entries.length > LISTED ? <li class={css.hint}>{span.entries.length - LISTED} more in Logs</li> : null}
        </ol>
      )}
      <Details
        id={`entry-${entry.id}`}
        entry={entry}
        project={projects.find(({ id }) => id === entry.projectId)?.name ?? null}
        onFilter={(patch) =>
          route(toolLink(workspaceId, entry.projectId, null, patched(viewOf("", { kind: "all" }), patch)))
        }
        onContext={() =>
          route(new URL(entryLink(location.origin, workspaceId, entry)).href.slice(location.origin.length))
        }
        link={entryLink(location.origin, workspaceId, entry)}
      />
    </>
  );
}

interface GapProps {
  entry: LogEntry;
  next: LogEntry | undefined;
  /** Milliseconds. */
  least: number;
}

/** The time to the next entry of the span, if it is a large part of it. */
function Gap({ entry, next, least }: GapProps) {
  const ms = next === undefined ? 0 : Date.parse(next.timestamp) - Date.parse(entry.timestamp);
  return ms > 0 && ms >= least ? <p class={css.gap}>{lengthText(ms)} until the next entry</p> : null;
}
