import { useMemo } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import type { Board, Panel } from "../../model/boards.ts";
import { type Times, timesOf } from "../explorer/view/range.ts";
import { queryFor } from "../investigate/ask.ts";
import { type Release, releasesOf, releasesQuery } from "../investigate/releases/releases.ts";
import { useVersionSearch } from "../investigate/releases/use-releases.ts";
import { versionField } from "../investigate/releases/version-fields.ts";
import { BATCH, kindsOf, viewRange } from "./board-query.ts";
import { askAll, type Further } from "./use-answers.ts";
import { type ShownAnswers, useBoardAnswers } from "./use-slowest.ts";

/** Parts of a span: a version that begins in the first one may have run before. */
const PARTS = 60;
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
}

interface AnswersWithReleases extends ShownAnswers {
  /** Whether a panel is drawn over time. */
  isOverTime: boolean;
  hasReleases: boolean;
  /** Releases of the times of a panel. */
  releasesOf: (panel: Panel) => readonly Release[];
}

/**
 * Loads the answers of a board with the releases of its times. The field with versions is looked for once, after the answers; from
 * then on the request of the board asks for the releases, too, once for all panels of the same times, as far as a request has room.
 */
export function useBoardWithReleases(options: BoardOptions): AnswersWithReleases {
  const { workspaceId, board, times, round, range, retentionDays, showsReleases } = options;
  const { projectId } = board;
  const drawn = useMemo(() => board.panels.filter(isDrawnOverTime), [board.panels]);
  const isWanted = showsReleases && drawn.length > 0;
  const field = versionField({ workspaceId, projectId });
  const ranges =
    field === null || !isWanted ? [] : [...new Map(drawn.map((panel) => [timesKey(panel), panel])).values()];
  const furtherOf = (asked: readonly Panel[], now: number): Further[] =>
    asked.map((panel) => {
      const shown = panel.range === undefined ? times : timesOf(viewRange(panel.range, now), now, retentionDays);
      const query = queryFor(releasesQuery(field ?? ""), projectId, boundsOf(shown));
      return { key: timesKey(panel), query, start: shown.start, end: shown.end };
    });
  // A refresh is one request. Releases for which it has no room are loaded once a range.
  const room = Math.max(0, BATCH - board.panels.length);
  const answers = useBoardAnswers(workspaceId, board, times, round, range, (now) =>
    furtherOf(ranges.slice(0, room), now),
  );
  const { data, isSearching } = answers;
  const isUnknown = isWanted && field === null && data !== null && !isSearching;
  useVersionSearch({ workspaceId, projectId }, boundsOf(times), isUnknown ? `${board.id} ${range}` : null);
  // Those without room, and those of answers that were requested before the field was found.
  const missing = data === null ? [] : ranges.filter((panel) => !data.further.has(timesKey(panel)));
  const lateKey = missing.length === 0 ? "" : `${board.id} ${range} ${missing.map(timesKey)}`;
  const late = useLoad(lateKey, async (signal) =>
    missing.length === 0 || data === null
      ? null
      : (await askAll(workspaceId, [], furtherOf(missing, data.at), signal, data.asOf)).further,
  );
  const found = useMemo(
    () =>
      new Map(
        [...(late.data ?? []), ...(data?.further ?? [])].map(([key, { answer, start, end }]) => [
          key,
          answer.ok && answer.kind === "table" && answer.complete
            ? releasesOf(answer, start, (end - start) / PARTS)
            : NONE,
        ]),
      ),
    [late.data, data],
  );
  return {
    ...answers,
    isOverTime: drawn.length > 0,
    hasReleases: isWanted && drawn.some((panel) => (found.get(timesKey(panel)) ?? NONE).length > 0),
    releasesOf: (panel) => (isWanted ? (found.get(timesKey(panel)) ?? NONE) : NONE),
  };
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
