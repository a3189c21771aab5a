import { useId, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useTitle } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { lazyModule, useLazy } from "../../ui/use-lazy.ts";
import { toolLink } from "../investigate/links.ts";
import { type ActionDialog, Actions } from "./actions/actions.tsx";
import { focusOn, useShortcuts } from "./actions/shortcuts.ts";
import { EmptyResults } from "./empty-results.tsx";
import css from "./explorer.module.css";
import { Chips } from "./filter-bar/chips.tsx";
import { FilterPanel } from "./filter-bar/filter-panel.tsx";
import type { FilterPatch } from "./filters.ts";
import { Histogram } from "./histogram/histogram.tsx";
import { LiveBar } from "./live/live-bar.tsx";
import { NotFoundInExplorer } from "./not-found.tsx";
import { SearchedText } from "./results/marked.tsx";
import { MissingEntries } from "./results/missing.ts";
import { Results } from "./results/results.tsx";
import { Notes } from "./search/notes.tsx";
import { StatusLine } from "./status-line.tsx";
import { Toolbar } from "./toolbar/toolbar.tsx";
import { useExplorer } from "./use-explorer.ts";
import { between, isOpen, wider } from "./view/range.ts";
import { entryLink, useShownEntry } from "./view/shown-entry.ts";
import { patched, type View } from "./view/view.ts";

/** Parts that the first row does not need. */
const CONTEXT = lazyModule(() => import("./context/context-view.tsx"));
const ANSWER = lazyModule(() => import("./search/answer-view.tsx"));

export function ExplorerPage({ workspaceId, projectId }: { workspaceId: string; projectId: string | null }) {
  useTitle("Logs");
  const explorer = useExplorer(workspaceId, projectId);
  const { view, invalidParameters, change, times, projects, live, results, stats, entries, failure, asked } = explorer;
  const context = useShownEntry(projectId);
  const contextView = useLazy(CONTEXT, context.shown !== null, context.close);
  const answerView = useLazy(ANSWER, asked.isAnswer, () => undefined);
  const { route } = useLocation();
  const [panelOpen, setPanelOpen] = useState(false);
  const [dialog, setDialog] = useState<ActionDialog | null>(null);
  const panelId = useId();
  const projectNames = useMemo(() => {
    const inScope = projects.data?.filter(({ id }) => projectId === null || id === projectId);
    return new Map(inScope?.map(({ id, name }) => [id, name]));
  }, [projects.data, projectId]);

  const onFilters = (next: (filters: View["filters"]) => View["filters"]): void =>
    change((before) => ({ ...before, filters: next(before.filters) }));
  const onFilter = (patch: FilterPatch): void => change((before) => patched(before, patch));
  const onZoom = (start: number, end: number): void =>
    change((before) => ({ ...before, range: between(start, end), live: false }));
  const onZoomOut = (): void =>
    change((before) => {
      const range = wider(times, Date.now());
      return { ...before, range, live: before.live && isOpen(range) };
    });
  const toggleLive = (): void => {
    if (projectId !== null) change((before) => withLive(before, !before.live));
  };
  useShortcuts({
    "/": () => void focusOn("search"),
    f: () => {
      if (focusOn("filters")) return;
      // A closed panel must be rendered first.
      setPanelOpen(true);
      requestAnimationFrame(() => focusOn("filters"));
    },
    t: () => void focusOn("time"),
    h: () => void focusOn("histogram"),
    r: explorer.reload,
    l: toggleLive,
    p: () => (live.tail.state === "paused" ? live.tail.resume() : live.tail.pause()),
    v: () => setDialog("views"),
    s: () => setDialog("share"),
    "?": () => setDialog("keys"),
  });
  const isLive = view.live && projectId !== null && times.to === undefined;
  if (explorer.isMissing) return <NotFoundInExplorer workspaceId={workspaceId} />;
  const isFailing = results.failure !== null || live.failure !== null;
  // One notice for all failures: at the end of the list if only the next page failed, otherwise at the top.
  const isAtEnd = failure !== null && failure === results.failure && results.failedOn !== "load";
  const notice =
    failure === null ? null : (
      <div class={css.notice}>
        <Failure failure={failure} onRetry={explorer.retry} />
      </div>
    );
  return (
    <SearchedText.Provider value={view.filters.search ?? asked.text}>
      <div class={css.explorer}>
        <h1 class="visually-hidden">Logs</h1>
        <div class={css.top}>
          <Toolbar
            workspaceId={workspaceId}
            projectId={projectId}
            projects={projects.data}
            view={view}
            times={times}
            busy={results.busy === "load" && !asked.isAnswer}
            onChange={change}
            onReload={explorer.reload}
            onLive={toggleLive}
          />
          <Actions
            panelId={panelId}
            panelOpen={panelOpen}
            onPanel={() => setPanelOpen(!panelOpen)}
            workspaceId={workspaceId}
            projectId={projectId}
            projects={projects.data ?? []}
            view={view}
            times={times}
            request={explorer.request}
            expected={stats.data?.stats.complete ? stats.data.stats.total : null}
            dialog={dialog}
            onDialog={setDialog}
          />
        </div>
        <div class={css.columns}>
          <aside class={css.side} aria-label="Filters" data-open={panelOpen} data-shortcut="filters" tabIndex={-1}>
            <FilterPanel
              id={panelId}
              filters={view.filters}
              onChange={onFilters}
              categories={explorer.categories}
              types={explorer.types}
              services={explorer.services}
              hosts={explorer.hosts}
              entries={entries}
            />
          </aside>
          <div class={css.main}>
            {invalidParameters.length > 0 ? (
              <p class={css.warning} role="alert">
                Ignored invalid parts of this link: {invalidParameters.join(", ")}.
              </p>
            ) : null}
            <Chips filters={view.filters} onChange={onFilters} />
            <Notes notes={asked.hints} />
            {asked.isAnswer && answerView !== null ? (
              <answerView.AnswerView
                workspaceId={workspaceId}
                projectId={projectId}
                query={view.query ?? ""}
                filters={view.filters}
                times={times}
                round={explorer.key}
                chart={view.chart}
                onChart={(chart) => change((before) => ({ ...before, chart }))}
              />
            ) : null}
            {asked.isAnswer ? null : <h2 class="visually-hidden">Histogram</h2>}
            {isAtEnd ? null : notice}
            {asked.isAnswer ? null : stats.data === null ? (
              failure === null && !explorer.isEmpty ? (
                <div class={css.waiting} />
              ) : null
            ) : (
              <Histogram
                counted={stats.data}
                busy={stats.busy && failure === null}
                onZoom={onZoom}
                onZoomOut={onZoomOut}
                onCompare={(start, end) =>
                  route(toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) }))
                }
              />
            )}
            {isLive ? (
              <LiveBar live={live} fresh={entries.length - results.entries.length} onStop={toggleLive} />
            ) : null}
            {asked.isAnswer ? null : <h2 class="visually-hidden">Entries</h2>}
            {asked.isAnswer ? null : (
              <StatusLine
                results={results}
                shown={entries.length}
                order={view.order}
                isLive={isLive}
                isFailing={isFailing}
                onOrder={(order) => change((before) => ({ ...before, order }))}
              />
            )}
            {isAtEnd ? notice : null}
            {asked.isAnswer || (isFailing && entries.length === 0) ? null : (
              <div class={css.list} aria-busy={results.busy === "load" && !isFailing}>
                <MissingEntries.Provider value={explorer.missing}>
                  <Results
                    entries={entries}
                    query={results.query}
                    busy={results.busy === "load" || results.busy === "more"}
                    hasFailed={results.failedOn === "more"}
                    hasMore={results.nextCursor !== null && results.complete}
                    onMore={results.more}
                    onFilter={onFilter}
                    onContext={context.show}
                    projectNames={projectNames}
                    linkTo={(entry) => entryLink(location.origin, workspaceId, entry)}
                    empty={
                      <div class={css.notice}>
                        <EmptyResults
                          workspaceId={workspaceId}
                          projectId={projectId}
                          projects={projects.data}
                          explorer={explorer}
                          isLive={isLive}
                        />
                      </div>
                    }
                  />
                </MissingEntries.Provider>
              </div>
            )}
          </div>
        </div>
        {context.shown === null || contextView === null ? null : (
          <contextView.ContextView
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

/** Turns live on or off. Live requires an open range and the newest entries first. */
function withLive(view: View, live: boolean): View {
  if (!live) return { ...view, live };
  const { range } = view;
  const isClosed = range.kind === "between" && range.to !== null;
  return {
    ...view,
    live,
    order: "desc",
    range: !isClosed ? range : range.from === null ? { kind: "all" } : { ...range, to: null },
  };
}
