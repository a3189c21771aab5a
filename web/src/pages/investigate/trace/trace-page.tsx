import { ChartGantt, RotateCw, ScrollText, Table2, X } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { timeFormat } from "../../../lib/zone.ts";
import { loadProjects } from "../../../model/workspaces.ts";
import { Button, buttonClass, IconButton } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { useTitle } from "../../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { TextButton } from "../../../ui/text-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { entries as entriesText, number } from "../../explorer/view/format.ts";
import { lengthText } from "../length-text.ts";
import { toolLink, traceLink, viewOf } from "../links.ts";
import { percent } from "../percent.ts";
import { type TraceRef, traceFieldNamed, traceQuery } from "../trace-ids.ts";
import { SpanDetails } from "./span-details.tsx";
import { Timeline } from "./timeline.tsx";
import css from "./trace.module.css";
import { TraceTable } from "./trace-table.tsx";
import { useTrace } from "./use-trace.ts";
import { longestOwn, type Waterfall, waterfallOf } from "./waterfall-model.ts";

/** Short, so that a phone has the numbers and *Table* beside each other. The title of a time is whole. */
const BEGAN = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A trace as a timeline of its spans, over all projects of the workspace. */
export function TracePage() {
  const { params, query } = useRoute();
  const { workspaceId = "", traceId = "" } = params;
  const field = traceFieldNamed(query.by);
  const trace = useMemo(() => ({ id: traceId, field }), [traceId, field]);
  useTitle("Trace");
  const { loaded, found, more, reload } = useTrace(workspaceId, trace);
  const waterfall = useMemo(() => found && waterfallOf(found.entries), [found]);
  const busy = loaded.busy;
  return (
    <div class={css.page}>
      <header class={css.head}>
        <h1 class={css.title}>
          <Icon shape={ChartGantt} size={18} /> Trace <code>{visible(traceId)}</code>
        </h1>
        <div class={css.acts}>
          <Copy text={traceId} label="Copy ID" />
          <a
            class={buttonClass("plain", true)}
            href={toolLink(workspaceId, null, null, viewOf(traceQuery(trace), { kind: "all" }))}
          >
            <Icon shape={ScrollText} />
            Logs
          </a>
          <IconButton
            icon={RotateCw}
            look="plain"
            small
            label="Refresh"
            busy={busy && found !== null}
            onClick={reload}
          />
        </div>
      </header>
      {loaded.failure === null ? null : (
        <div class={css.notice}>
          <Failure failure={loaded.failure} onRetry={loaded.reload} />
        </div>
      )}
      {found !== null && waterfall !== null ? (
        found.entries.length === 0 && !found.hasMore ? (
          <div class={css.notice}>
            <Empty title="No entries">
              <p>No project of this workspace has entries of this trace, or they have expired.</p>
            </Empty>
          </div>
        ) : (
          <>
            {found.entries.length === 0 ? null : (
              <Shown workspaceId={workspaceId} trace={trace} waterfall={waterfall} entries={found.entries.length} />
            )}
            {found.hasMore ? (
              <p class={css.more} role="status">
                {entriesText(found.entries.length)} loaded, oldest first.
                <Button small busy={busy} onClick={more}>
                  Load more
                </Button>
              </p>
            ) : null}
          </>
        )
      ) : loaded.failure === null ? (
        <Loading />
      ) : null}
    </div>
  );
}

interface ShownProps {
  workspaceId: string;
  trace: TraceRef;
  waterfall: Waterfall;
  /** Their number. */
  entries: number;
}

function Shown({ workspaceId, trace, waterfall, entries }: ShownProps) {
  const { query, route } = useLocation();
  const [asTable, setAsTable] = useState(false);
  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const selected = useMemo(
    () => waterfall.rows.find(({ span }) => span.entries.some(({ id }) => id === query.entry))?.span ?? null,
    [waterfall, query.entry],
  );
  const projectsOf = new Set(waterfall.rows.flatMap(({ span }) => span.entries.map(({ projectId }) => projectId)));
  const select = (entryId: string | undefined): void => route(traceLink(workspaceId, trace, entryId), true);
  const longest = useMemo(() => (waterfall.rows.length > 1 ? longestOwn(waterfall.rows) : null), [waterfall]);
  const missing = waterfall.rows.filter(({ span }) => span.missingParent !== null).length;
  return (
    <div class={css.shown} data-details={selected !== null}>
      <div class={css.main}>
        <div class={css.facts}>
          <p>
            Began <Time at={waterfall.start} format={BEGAN} />, took{" "}
            <strong>{lengthText(waterfall.end - waterfall.start)}</strong>
          </p>
          <p>{entriesText(entries)}</p>
          {waterfall.rows.length === entries ? null : <p>{number(waterfall.rows.length)} spans</p>}
          {projectsOf.size > 1 ? <p>{projectsOf.size} projects</p> : null}
          {waterfall.errors === 0 ? null : (
            <p class={css.errors}>{waterfall.errors === 1 ? "1 error" : `${number(waterfall.errors)} errors`}</p>
          )}
          <span class={css.choice}>
            <Button small look="quiet" icon={Table2} aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
              Table
            </Button>
          </span>
          {longest === null ? null : (
            <p class={css.longest}>
              Longest step:{" "}
              <TextButton class={css.pick} title="Show details" onPress={() => select(longest.span.entry.id)}>
                {visible(longest.span.entry.message.slice(0, 80))}
              </TextButton>{" "}
              <strong>{lengthText(longest.ms)}</strong>
              {longest.span.children.length === 0 ? "" : " without its child steps"},{" "}
              {percent(longest.ms / (waterfall.end - waterfall.start))} of the trace
            </p>
          )}
        </div>
        {missing === 0 ? null : (
          <p class={css.hint}>
            {missing === 1 ? "1 span has a parent" : `${number(missing)} spans have parents`} without an entry here.
          </p>
        )}
        {asTable ? (
          <TraceTable waterfall={waterfall} onSelect={select} />
        ) : (
          <Timeline waterfall={waterfall} selected={selected?.key ?? null} onSelect={({ entry }) => select(entry.id)} />
        )}
        <p class={css.hint}>
          A bar is as long as its entry states, up to the time of that entry or from the start it states. Without a
          duration it reaches from the first to the last entry; ◆ is a moment.
        </p>
      </div>
      {selected === null ? null : (
        <aside class={css.side} aria-label="Span">
          <div class={css.close}>
            <IconButton icon={X} label="Close" small onClick={() => select(undefined)} />
          </div>
          <SpanDetails
            workspaceId={workspaceId}
            span={selected}
            shown={query.entry ?? ""}
            start={waterfall.start}
            projects={projects.data ?? []}
            onShow={select}
          />
        </aside>
      )}
    </div>
  );
}
