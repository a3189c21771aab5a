import { useContext, useId, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useTitle } from "../../ui/page.tsx";
import { focusOn, selectIn, useShortcuts } from "../../ui/shortcuts/shortcuts.ts";
import { Failure } from "../../ui/states.tsx";
import { useMedia } from "../../ui/use-media.ts";
import { LinkedWorkspace } from "../investigate/linked-workspace.ts";
import { toolLink } from "../investigate/links.ts";
import { QueryPages } from "../investigate/query-pages.tsx";
import type { ActionDialog } from "./actions/actions.tsx";
import { PHONE } from "./actions/phone.ts";
import css from "./explorer.module.css";
import { useParts } from "./explorer-parts.ts";
import type { ShownBars } from "./histogram/bars.ts";
import { useFollow } from "./live/use-follow.ts";
import { NotFoundInExplorer } from "./not-found.tsx";
import { SearchedText } from "./results/marked.tsx";
import { MissingEntries } from "./results/missing.ts";
import { Results } from "./results/results.tsx";
import { shortcutActs } from "./shortcut-acts.ts";
import { StatusLine } from "./status-line.tsx";
import { Toolbar } from "./toolbar/toolbar.tsx";
import { useExplorer } from "./use-explorer.ts";
import { useOpenEntry } from "./use-open-entry.ts";
import { between } from "./view/range.ts";
import { entryLink, useShownEntry } from "./view/shown-entry.ts";
import { viewChanges } from "./view/view-changes.ts";

/** Windows in which the fields have a column beside the list, as in the style sheet. */
const WIDE = "(min-width: 1000px)";

export function ExplorerPage({ workspaceId, projectId }: { workspaceId: string; projectId: string | null }) {
  useTitle("Logs");
  const explorer = useExplorer(workspaceId, projectId);
  const { view, invalidParameters, change, times, projects, live, results, stats, entries, failure, asked, hasList } =
    explorer;
  const { isStale } = explorer;
  const context = useShownEntry(projectId);
  const { route } = useLocation();
  const hasPages = useContext(LinkedWorkspace) !== null;
  const [panelOpen, setPanelOpen] = useState(false);
  const [dialog, setDialog] = useState<ActionDialog | null>(null);
  const shownBars = useRef<(() => ShownBars) | null>(null);
  const panelId = useId();
  const projectNames = useMemo(() => {
    const inScope = projects.data?.filter(({ id }) => projectId === null || id === projectId);
    return new Map(inScope?.map(({ id, name }) => [id, name]));
  }, [projects.data, projectId]);

  const isWide = useMedia(WIDE);
  const isPhone = useMedia(PHONE);
  const isLive = view.live && projectId !== null && times.to === undefined;
  const parts = useParts(explorer, context, isWide || panelOpen, isLive);
  const openEntry = useOpenEntry();
  const { onQuery, onColumns, onFilter, onLevel, onZoom, onZoomOut, onShow } = viewChanges(explorer, times);
  const onCompare = hasPages
    ? (start: number, end: number, further = ""): void =>
        route(`${toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) })}${further}`)
    : undefined;
  const follow = useFollow(workspaceId, projectId, projects.data, view, change);
  const acts = shortcutActs(explorer, follow, () => setPanelOpen(true), setDialog);
  useShortcuts(acts);
  if (explorer.isMissing) return <NotFoundInExplorer workspaceId={workspaceId} />;
  const isFailing = results.failure !== null || live.failure !== null;
  const isLoading = results.busy === "load" && !isFailing;
  // One notice for all failures: at the end of the list if only the next page failed, otherwise at the top.
  const isAtEnd = failure !== null && failure === results.failure && results.failedOn !== "load";
  const notice =
    failure === null ? null : (
      <div class={css.notice}>
        <Failure failure={failure} onRetry={explorer.retry} />
      </div>
    );
  return (
    <SearchedText.Provider value={isStale ? "" : asked.text}>
      <div class={css.explorer}>
        <h1 class="visually-hidden">Logs</h1>
        {parts.commands === null ? null : (
          <parts.commands.ExplorerCommands
            acts={acts}
            view={view}
            change={change}
            workspaceId={workspaceId}
            projects={projects.data ?? []}
            projectId={projectId}
            entries={entries}
            onContext={context.show}
            onColumns={onColumns}
            onZoomOut={onZoomOut}
            onDialog={setDialog}
            hasPages={hasPages}
          />
        )}
        <div class={css.top}>
          {hasPages && !isPhone ? (
            <QueryPages workspaceId={workspaceId} projectId={projectId} view={view} current={null} />
          ) : null}
          <Toolbar
            workspaceId={workspaceId}
            projectId={projectId}
            projects={projects.data}
            view={view}
            times={times}
            busy={results.busy === "load" && hasList}
            onChange={change}
            onReload={explorer.reload}
            follow={follow}
          />
          <div class={css.actions}>
            {parts.actions === null ? (
              Array.from({ length: isWide ? (hasPages ? 5 : 4) : 2 }, (_, at) => <span key={at} class={css.place} />)
            ) : (
              <parts.actions.Actions
                panelId={panelId}
                panelOpen={panelOpen}
                onPanel={() => setPanelOpen(!panelOpen)}
                onReload={explorer.reload}
                workspaceId={workspaceId}
                projectId={projectId}
                projects={projects.data ?? []}
                view={view}
                times={times}
                request={explorer.request}
                expected={stats.data?.stats.complete ? stats.data.stats.total : null}
                shownBars={shownBars}
                dialog={dialog}
                onDialog={setDialog}
              />
            )}
          </div>
        </div>
        {parts.chips === null || view.query === undefined ? null : (
          <parts.chips.Chips
            query={view.query}
            onQuery={onQuery}
            onEdit={({ start, end }) => {
              if (focusOn("search")) selectIn("search", start, end);
            }}
          />
        )}
        {parts.wayBack === null || explorer.before === null ? null : <parts.wayBack.WayBack before={explorer.before} />}
        {invalidParameters.length > 0 ? (
          <p class={css.warning} role="alert">
            Ignored invalid parts of this link: {invalidParameters.join(", ")}.
          </p>
        ) : null}
        {asked.isInvalid ? null : <h2 class="visually-hidden">{asked.isAnswer ? "Answer" : "Histogram"}</h2>}
        {isAtEnd ? null : notice}
        {!hasList ? null : stats.data === null || parts.histogram === null || isStale ? (
          // Also above the rows of the query before, which stay where they are.
          (failure === null && !explorer.isEmpty) || isStale ? (
            <div class={css.waiting} />
          ) : null
        ) : (
          <parts.histogram.Histogram
            scope={{ workspaceId, projectId, times }}
            isSettled={explorer.fieldsKey !== null}
            counted={stats.data}
            busy={stats.busy && failure === null}
            onZoom={onZoom}
            onZoomOut={onZoomOut}
            onShow={onShow}
            query={view.query ?? ""}
            onLevel={onLevel}
            onSave={hasPages ? () => setDialog("board") : undefined}
            onCompare={onCompare}
            shownBars={shownBars}
          />
        )}
        <div class={css.columns}>
          <aside
            class={css.side}
            id={panelId}
            aria-label="Fields"
            data-open={panelOpen}
            data-stale={isStale}
            data-tooltip-clear
          >
            {parts.fields === null ? null : (
              <parts.fields.FieldsPanel
                scope={{ workspaceId, projectId, times }}
                filter={asked.q ?? "*"}
                round={{ key: explorer.fieldsKey, recounts: explorer.recounts }}
                hasFailed={failure !== null}
                query={view.query ?? ""}
                onQuery={onQuery}
                columns={view.columns ?? []}
                onColumns={onColumns}
              />
            )}
          </aside>
          <div class={css.main}>
            {parts.hints === null ? null : <parts.hints.QueryHints hints={asked.hints} onQuery={onQuery} />}
            {asked.isAnswer && parts.answerView !== null ? (
              <parts.answerView.AnswerView
                workspaceId={workspaceId}
                projectId={projectId}
                query={view.query ?? ""}
                times={times}
                chosen={view.range}
                round={explorer.key}
                chart={view.chart}
                onChart={(chart) => change((before) => ({ ...before, chart }))}
                onShow={onShow}
                onZoom={onZoom}
                onZoomOut={onZoomOut}
                onCompare={onCompare}
              />
            ) : null}
            {asked.isInvalid ? <p class={css.idle}>Results appear when the query has no error.</p> : null}
            {isLive && parts.liveBar !== null ? (
              <parts.liveBar.LiveBar
                live={live}
                fresh={entries.length - results.entries.length}
                onStop={follow.toggle}
              />
            ) : null}
            {hasList ? <h2 class="visually-hidden">Entries</h2> : null}
            {!hasList ? null : (
              <StatusLine
                results={results}
                shown={entries.length}
                order={view.order}
                isLive={isLive}
                isFailing={isFailing}
                isStale={isStale}
                isCounted={stats.failure === null && stats.counted?.stats.complete !== false}
                onOrder={(order) => change((before) => ({ ...before, order }))}
              />
            )}
            {isAtEnd ? notice : null}
            {!hasList || (isFailing && entries.length === 0) ? null : (
              <div class={css.list} aria-busy={isLoading} data-stale={isStale || (isLoading && entries.length > 0)}>
                <MissingEntries.Provider value={explorer.missing}>
                  <Results
                    entries={entries}
                    query={results.query}
                    busy={results.busy === "load" || results.busy === "more"}
                    hasFailed={results.failedOn === "more"}
                    hasMore={results.nextCursor !== null && results.complete && !isStale}
                    onMore={results.more}
                    onFilter={onFilter}
                    onContext={context.show}
                    projectNames={projectNames}
                    linkTo={(entry) => entryLink(location.origin, workspaceId, entry)}
                    columns={view.columns}
                    onColumns={onColumns}
                    shown={openEntry.initial}
                    onShown={openEntry.put}
                    onOpen={live.keepOpen}
                    empty={
                      <div class={css.notice}>
                        {parts.emptyResults === null ? null : (
                          <parts.emptyResults.EmptyResults
                            workspaceId={workspaceId}
                            projectId={projectId}
                            projects={projects.data}
                            explorer={explorer}
                            isLive={isLive}
                          />
                        )}
                      </div>
                    }
                  />
                </MissingEntries.Provider>
              </div>
            )}
          </div>
        </div>
        {context.shown === null || parts.contextView === null ? null : (
          <parts.contextView.ContextView
            workspaceId={workspaceId}
            entry={context.shown}
            isOpened={context.isOpened}
            by={context.by}
            onBy={context.showBy}
            onShow={context.show}
            onClose={context.close}
            onFilter={onFilter}
          />
        )}
      </div>
    </SearchedText.Provider>
  );
}
