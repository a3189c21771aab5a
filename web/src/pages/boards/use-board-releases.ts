import { useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Release, releaseName } from "../../charts/releases.ts";
import { useLoad } from "../../lib/load.ts";
import type { Board, Panel } from "../../model/boards.ts";
import { between, type Range, type Times, timesOf } from "../explorer/view/range.ts";
import { queryFor } from "../investigate/ask.ts";
import { toolLink, viewOf } from "../investigate/links.ts";
import type { MarkedReleases } from "../investigate/releases/release-marks.tsx";
import { comparing, releasesQuery, releasesSearch } from "../investigate/releases/releases.ts";
import { useVersionSearch } from "../investigate/releases/use-releases.ts";
import { versionField } from "../investigate/releases/version-fields.ts";
import { BATCH, kindsOf, viewRange } from "./board-query.ts";
import { askAll, type Further } from "./use-answers.ts";
import { type ShownAnswers, useBoardAnswers } from "./use-slowest.ts";

/** Milliseconds after which releases for which the request of a board has no room are loaded again by the next refresh. */
const AGAIN_MS = 5 * 60_000;
const NONE: readonly Release[] = [];

interface BoardOptions {
  workspaceId: string;
  board: Board;
  times: Times;
  /** Changes with every refresh. */
  round: number;
  /** Stays the same while a relative range moves. */
  range: string;
  retentionDays: number;
  showsReleases: boolean;
  /** Shows the board in other times. */
  onRange: (range: Range) => void;
}

interface AnswersWithReleases extends ShownAnswers {
  /** Whether a panel is drawn over time. */
  isOverTime: boolean;
  /** All releases that its panels mark, by time. */
  marked: Pick<MarkedReleases, "scope" | "releases">;
  /** Releases of the times of a panel, and where they lead. */
  releasesOf: (panel: Panel) => MarkedReleases;
}

/**
 * Loads the answers of a board with the releases of its times. The field with versions is looked for once, after the answers; from
 * then on the request of the board asks for the releases, too, once for all panels of the same times, as far as a request has room: a
 * refresh stays one request. The others are loaded by a request of their own, again by the first refresh after 5 minutes.
 */
export function useBoardWithReleases(options: BoardOptions): AnswersWithReleases {
  const { workspaceId, board, times, round, range, retentionDays, showsReleases, onRange } = options;
  const { route } = useLocation();
  const { projectId } = board;
  const drawn = useMemo(() => board.panels.filter(isDrawnOverTime), [board.panels]);
  const isWanted = showsReleases && drawn.length > 0;
  const field = versionField({ workspaceId, projectId });
  const ranges =
    field === null || !isWanted ? [] : [...new Map(drawn.map((panel) => [timesKey(panel), panel])).values()];
  const spanOf = (panel: Panel, now: number): Times =>
    panel.range === undefined ? times : timesOf(viewRange(panel.range, now), now, retentionDays);
  const furtherOf = (asked: readonly Panel[], now: number): Further[] =>
    asked.map((panel) => {
      const shown = spanOf(panel, now);
      const bounds = boundsOf(shown);
      const lead = new Date(releasesSearch(shown, bounds.from === undefined).start).toISOString();
      const asked = bounds.from === undefined ? bounds : { ...bounds, from: lead };
      const query = queryFor(releasesQuery(field ?? ""), projectId, asked);
      return { key: timesKey(panel), query, start: shown.start, end: shown.end };
    });
  const room = Math.max(0, BATCH - board.panels.length);
  const answers = useBoardAnswers(workspaceId, board, times, round, range, (now) =>
    furtherOf(ranges.slice(0, room), now),
  );
  const { data, isSearching } = answers;
  const isUnknown = isWanted && field === null && data !== null && !isSearching;
  useVersionSearch({ workspaceId, projectId }, boundsOf(times), isUnknown ? `${board.id} ${range}` : null);
  // Those without room, and those of answers that were requested before the field was found.
  const due = data === null ? [] : ranges.filter((panel) => !data.further.has(timesKey(panel)));
  const lastDue = useRef(due);
  // What the search for fields finds is asked for with the releases.
  if (!isSearching && !answers.busy) lastDue.current = due;
  const missing = lastDue.current;
  const missingKey = missing.length === 0 ? "" : `${board.id} ${range} ${missing.map(timesKey)}`;
  const asked = useRef({ key: "", at: 0 });
  if (data !== null && (asked.current.key !== missingKey || data.at - asked.current.at >= AGAIN_MS))
    asked.current = { key: missingKey, at: data.at };
  const lateKey = missingKey === "" ? "" : `${missingKey} ${asked.current.at}`;
  const late = useLoad(lateKey, async (signal) =>
    missing.length === 0 || data === null
      ? null
      : (await askAll(workspaceId, [], furtherOf(missing, data.at), signal, data.asOf)).further,
  );
  // Marks stay until the next ones are there.
  const kept = useRef<{ key: string; further: typeof late.data }>({ key: "", further: null });
  if (late.data !== null || kept.current.key !== missingKey) kept.current = { key: missingKey, further: late.data };
  const lateAnswers = kept.current.further;
  const found = useMemo(
    () =>
      new Map(
        [...(lateAnswers ?? []), ...(data?.further ?? [])].map(([key, { answer, start, end }]) => [
          key,
          answer.ok && answer.kind === "table" && answer.complete
            ? releasesSearch({ start, end }, answer.range.from === null).read(answer)
            : NONE,
        ]),
      ),
    [lateAnswers, data],
  );
  return {
    ...answers,
    isOverTime: drawn.length > 0,
    marked: { scope: { workspaceId, projectId }, releases: isWanted ? eachOnce(drawn, found) : NONE },
    releasesOf: (panel) => {
      const releases = isWanted ? (found.get(timesKey(panel)) ?? NONE) : NONE;
      const compare = (start: number, end: number, further = ""): void =>
        route(`${toolLink(workspaceId, projectId, "compare", viewOf(panel.query, between(start, end)))}${further}`);
      return {
        scope: { workspaceId, projectId },
        releases,
        onShow: (query, start, end) =>
          route(toolLink(workspaceId, projectId, null, viewOf(query, between(start, end)))),
        // A panel with its own time keeps it.
        onZoom: panel.range === undefined ? (start, end) => onRange(between(start, end)) : undefined,
        onCompare: comparing(compare, releases, spanOf(panel, data?.at ?? Date.now())),
      };
    },
  };
}

/** Returns the releases of panels by time, those of panels with different times once. */
function eachOnce(panels: readonly Panel[], found: ReadonlyMap<string, readonly Release[]>): readonly Release[] {
  const all = panels.flatMap((panel) => found.get(timesKey(panel)) ?? NONE);
  const byName = new Map(all.map((release) => [`${releaseName(release)} ${release.at}`, release]));
  return [...byName.values()].sort((a, b) => a.at - b.at);
}

function isDrawnOverTime({ kind, query }: Panel): boolean {
  return (kind === "bars" || kind === "line" || kind === "area") && kindsOf(query).includes("line");
}

function boundsOf({ from, to }: Times): { from?: string; to?: string } {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** Names the times of a panel: equal for all panels of the board's range. */
function timesKey({ range }: Panel): string {
  return range === undefined ? "" : JSON.stringify(range);
}
