import { useEffect, useRef } from "preact/hooks";
import { showFonts } from "../../ui/fonts.ts";
import { useAfterPaint } from "../../ui/use-after-paint.ts";
import { lazyModule, useLazy } from "../../ui/use-lazy.ts";
import type { ExplorerState } from "./use-explorer.ts";
import { LANGUAGE } from "./view/load-language.ts";
import type { ShownEntry } from "./view/shown-entry.ts";

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

/**
 * Loads the parts of the page around the list: those that every page has after the frame with the first rows, each other one
 * once it is shown. A part is `null` until it is loaded.
 */
export function useParts(explorer: ExplorerState, context: ShownEntry, hasFields: boolean, isLive: boolean) {
  const { view, asked, hasList, results } = explorer;
  const contextView = useLazy(CONTEXT, context.shown !== null, context.close);
  const answerView = useLazy(ANSWER, asked.isAnswer);
  const isEmpty = explorer.entries.length === 0 && results.busy === null;
  const emptyResults = useLazy(EMPTY, isEmpty);
  // A table has no list to wait for.
  const hasResponse = results.loads > 0 || results.failure !== null || explorer.isEmpty || !hasList;
  const isPainted = useAfterPaint(hasResponse);
  useEffect(() => {
    if (isPainted) showFonts();
  }, [isPainted]);
  const actions = useLazy(ACTIONS, isPainted);
  const histogram = useLazy(HISTOGRAM, isPainted && hasList);
  const wayBack = useLazy(WAY_BACK, explorer.before !== null);
  const hints = useLazy(HINTS, asked.hints.length > 0);
  const chips = useLazy(CHIPS, view.query !== undefined);
  useLazy(LANGUAGE, isPainted || view.query !== undefined);
  // Once the first list is there the fields stay, also while the next one loads.
  const hasSettled = useRef(false);
  hasSettled.current ||= isPainted && explorer.fieldsKey !== null;
  const fields = useLazy(FIELDS, hasSettled.current && hasFields);
  const commands = useLazy(COMMANDS, isPainted);
  const liveBar = useLazy(LIVE_BAR, isLive);
  return {
    contextView,
    answerView,
    emptyResults,
    actions,
    histogram,
    wayBack,
    hints,
    chips,
    fields,
    commands,
    liveBar,
  };
}
