import { useContext, useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Level } from "../../model/types.ts";
import { showFonts } from "../../ui/fonts.ts";
import { useTitle } from "../../ui/page.tsx";
import { focusOn, focusOnceThere, selectIn, useShortcuts } from "../../ui/shortcuts/shortcuts.ts";
import { Failure } from "../../ui/states.tsx";
import { useAfterPaint } from "../../ui/use-after-paint.ts";
import { lazyModule, useLazy } from "../../ui/use-lazy.ts";
import { useMedia } from "../../ui/use-media.ts";
import { LinkedWorkspace } from "../investigate/linked-workspace.ts";
import { toolLink } from "../investigate/links.ts";
import { QueryPages } from "../investigate/query-pages.tsx";
import type { ActionDialog } from "./actions/actions.tsx";
import { PHONE } from "./actions/phone.ts";
import css from "./explorer.module.css";
import type { FilterPatch } from "./filters.ts";
import { useFollow } from "./live/use-follow.ts";
import { NotFoundInExplorer } from "./not-found.tsx";
import { SearchedText } from "./results/marked.tsx";
import { MissingEntries } from "./results/missing.ts";
import { Results } from "./results/results.tsx";
import { StatusLine } from "./status-line.tsx";
import { Toolbar } from "./toolbar/toolbar.tsx";
import { useExplorer } from "./use-explorer.ts";
import { useOpenEntry } from "./use-open-entry.ts";
import type { Column } from "./view/columns.ts";
import { LANGUAGE } from "./view/load-language.ts";
import { between, isOpen, zoomedOut } from "./view/range.ts";
import { entryLink, useShownEntry } from "./view/shown-entry.ts";
import { withQuery } from "./view/view.ts";

/** Windows in which the fields have a column beside the list, as in the style sheet. */
const WIDE = "(min-width: 1000px)";

/** Parts that the first row does not need. */
const CONTEXT = lazyModule(() => import("./context/context-view.tsx"));
const ANSWER = lazyModule(() => import("./search/answer-view.tsx"));
/** Waits for the font, too: it would move the names of the levels after they are drawn. */
const HISTOGRAM = lazyModule(async () => {
  const module = await import("./histogram/histogram.tsx");
  // Read after a frame: it lays out the page, which the fonts have just changed.
  await document.fonts.ready;
  return module;
});
const LIVE_BAR = lazyModule(() => import("./live/live-bar.tsx"));
const COMMANDS = lazyModule(() => import("./explorer-commands.ts"));
const ACTIONS = lazyModule(() => import("./actions/actions.tsx"));
const CHIPS = lazyModule(() => import("./search/chips.tsx"));
const HINTS = lazyModule(() => import("./search/query-hints.tsx"));
const WAY_BACK = lazyModule(() => import("./search/way-back.tsx"));
const EMPTY = lazyModule(() => import("./empty-results.tsx"));
const FIELDS = lazyModule(() => import("./fields/fields-panel.tsx"));

export function ExplorerPage({ workspaceId, projectId }: { workspaceId: string; projectId: string | null }) {
  useTitle("Logs");
  const explorer = useExplorer(workspaceId, projectId);
  const { view, invalidParameters, change, times, projects, live, results, stats, entries, failure, asked, hasList } =
    explorer;
  const { isStale } = explorer;
  const context = useShownEntry(projectId);
  const contextView = useLazy(CONTEXT, context.shown !== null, context.close);
  const answerView = useLazy(ANSWER, asked.isAnswer, () => undefined);
  const { route } = useLocation();
  const hasPages = useContext(LinkedWorkspace) !== null;
  const [panelOpen, setPanelOpen] = useState(false);
  const [dialog, setDialog] = useState<ActionDialog | null>(null);
  const panelId = useId();
  const projectNames = useMemo(() => {
    const inScope = projects.data?.filter(({ id }) => projectId === null || id === projectId);
    return new Map(inScope?.map(({ id, name }) => [id, name]));
  }, [projects.data, projectId]);

  const isEmpty = entries.length === 0 && results.busy === null;
  const emptyResults = useLazy(EMPTY, isEmpty, () => undefined);
  // A table has no list to wait for.
  const hasResponse = results.loads > 0 || results.failure !== null || explorer.isEmpty || !hasList;
  const isPainted = useAfterPaint(hasResponse);
  useEffect(() => {
    if (isPainted) showFonts();
  }, [isPainted]);
  const actions = useLazy(ACTIONS, isPainted, () => undefined);
  const histogram = useLazy(HISTOGRAM, isPainted && hasList, () => undefined);
  const wayBack = useLazy(WAY_BACK, explorer.before !== null, () => undefined);
  const hints = useLazy(HINTS, asked.hints.length > 0, () => undefined);
  const chips = useLazy(CHIPS, view.query !== undefined, () => undefined);
  useLazy(LANGUAGE, isPainted || view.query !== undefined, () => undefined);
  const openEntry = useOpenEntry();
  const isWide = useMedia(WIDE);
  const isPhone = useMedia(PHONE);
  // Once the first list is there the fields stay, also while the next one loads.
  const hasSettled = useRef(false);
  hasSettled.current ||= isPainted && explorer.fieldsKey !== null;
  const fields = useLazy(FIELDS, hasSettled.current && (isWide || panelOpen), () => undefined);
  const onQuery = (query: string): void => change((before) => withQuery(before, query));
  const onColumns = (columns: readonly Column[]): void =>
    void LANGUAGE.load().then(() =>
      change(({ columns: _, ...before }) => (columns.length === 0 ? before : { ...before, columns })),
    );
  const onFilter = (patch: FilterPatch): void =>
    void LANGUAGE.load().then(({ patched }) => change((before) => patched(before, patch)));
  const onLevel = (level: Level): void =>
    void LANGUAGE.load().then(({ toggled }) => onQuery(toggled(view.query ?? "*", "level", level, "included")));
  const onZoom = (start: number, end: number): void =>
    change((before) => ({ ...before, range: between(start, end), live: false }));
  const onZoomOut = (): void =>
    change((before) => {
      const range = zoomedOut(before.range, times, Date.now());
      return { ...before, range, live: before.live && isOpen(range) };
    });
  const onShow = (query: string, start: number, end: number): void =>
    explorer.showPart((before) => ({ ...withQuery(before, query), range: between(start, end), live: false }));
  const onCompare = hasPages
    ? (start: number, end: number, further = ""): void =>
        route(`${toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) })}${further}`)
    : undefined;
  const follow = useFollow(workspaceId, projectId, projects.data, view, change);
  const acts = {
    "/": () => void focusOn("search"),
    j: () => focusRow("ArrowDown"),
    k: () => focusRow("ArrowUp"),
    f: () => {
      if (focusOn("fields")) return;
      setPanelOpen(true);
      focusOnceThere("fields");
    },
    t: () => void focusOn("time"),
    h: () => focusOnceThere("histogram"),
    r: explorer.reload,
    l: follow.toggle,
    p: () => (live.tail.state === "paused" ? live.tail.resume() : live.tail.pause()),
    v: () => setDialog("views"),
    s: () => setDialog("share"),
    "?": () => setDialog("keys"),
  };
  useShortcuts(acts);
  const commands = useLazy(COMMANDS, isPainted, () => undefined);
  const isLive = view.live && projectId !== null && times.to === undefined;
  const liveBar = useLazy(LIVE_BAR, isLive, () => undefined);
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
        {commands === null ? null : (
          <commands.ExplorerCommands
            acts={acts}
            view={view}
            times={times}
            change={change}
            workspaceId={workspaceId}
            projects={projects.data ?? []}
            projectId={projectId}
            entries={entries}
            onContext={context.show}
            onColumns={onColumns}
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
            {actions === null ? (
              Array.from({ length: isWide ? (hasPages ? 5 : 4) : 2 }, (_, at) => <span key={at} class={css.place} />)
            ) : (
              <actions.Actions
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
                dialog={dialog}
                onDialog={setDialog}
              />
            )}
          </div>
        </div>
        {chips === null || view.query === undefined ? null : (
          <chips.Chips
            query={view.query}
            onQuery={onQuery}
            onEdit={({ start, end }) => {
              if (focusOn("search")) selectIn("search", start, end);
            }}
          />
        )}
        {wayBack === null || explorer.before === null ? null : <wayBack.WayBack before={explorer.before} />}
        {invalidParameters.length > 0 ? (
          <p class={css.warning} role="alert">
            Ignored invalid parts of this link: {invalidParameters.join(", ")}.
          </p>
        ) : null}
        {asked.isInvalid ? null : <h2 class="visually-hidden">{asked.isAnswer ? "Answer" : "Histogram"}</h2>}
        {isAtEnd ? null : notice}
        {!hasList ? null : stats.data === null || histogram === null || isStale ? (
          // Also above the rows of the query before, which stay where they are.
          (failure === null && !explorer.isEmpty) || isStale ? (
            <div class={css.waiting} />
          ) : null
        ) : (
          <histogram.Histogram
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
            {fields === null ? null : (
              <fields.FieldsPanel
                scope={{ workspaceId, projectId, times }}
                filter={asked.q ?? "*"}
                countKey={explorer.fieldsKey}
                hasFailed={failure !== null}
                query={view.query ?? ""}
                onQuery={onQuery}
                columns={view.columns ?? []}
                onColumns={onColumns}
              />
            )}
          </aside>
          <div class={css.main}>
            {hints === null ? null : <hints.QueryHints hints={asked.hints} onQuery={onQuery} />}
            {asked.isAnswer && answerView !== null ? (
              <answerView.AnswerView
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
            {isLive && liveBar !== null ? (
              <liveBar.LiveBar live={live} fresh={entries.length - results.entries.length} onStop={follow.toggle} />
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
                    empty={
                      <div class={css.notice}>
                        {emptyResults === null ? null : (
                          <emptyResults.EmptyResults
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

/** Focuses the list's row, or with the focus in the list lets the list handle the key. */
function focusRow(key: string): void {
  const row = document.querySelector<HTMLElement>('[data-row][tabindex="0"]');
  if (row === null) return;
  if (document.activeElement !== row) row.focus();
  else row.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
