import { LayoutDashboard } from "lucide";
import { useMemo, useRef, useState } from "preact/hooks";
import { may } from "../../../../../src/workspace/permissions.ts";
import type { ChartRange, Table } from "../../../charts/chart-data.ts";
import type { Choice } from "../../../charts/drawn.ts";
import type { Span } from "../../../charts/selection.ts";
import type { PanelKind } from "../../../model/boards.ts";
import { knownWorkspace } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { picturedReleases } from "../../investigate/releases/known-changes.ts";
import { drawnReleases } from "../../investigate/releases/release-marks.tsx";
import { type CompareRange, comparing } from "../../investigate/releases/releases.ts";
import { useReleases } from "../../investigate/releases/use-releases.ts";
import type { Range, Times } from "../view/range.ts";
import { AnswerTable } from "./answer-table.tsx";
import css from "./answer-view.module.css";

/** The drawing, loaded for the first table, so that no page waits for it. */
const PARTS = lazyModule(() => import("./chart-parts.ts"));

interface AnswerChartProps {
  workspaceId: string;
  projectId: string | null;
  /** The query that made the table. */
  query: string;
  table: Table;
  range: { from: string | null; to: string | null };
  /** The times of the chart. */
  times: Times;
  /** The range that was chosen. */
  chosen: Range;
  kind: PanelKind | undefined;
  onKind: (kind: PanelKind) => void;
  onShow: (query: string, start: number, end: number) => void;
  onZoom: (start: number, end: number) => void;
  onZoomOut: () => void;
  onCompare: CompareRange | undefined;
}

/** A chart of a table, with a choice of its kind, and the table below it, which follows the legend. */
export function AnswerChart({ query, table, range, kind, ...rest }: AnswerChartProps) {
  const [choice, setChoice] = useState<Choice | null>(null);
  const loaded = useLazy(PARTS, true);
  const answeredAt = useMemo(() => Date.now(), [table]);
  const drawing = useMemo(() => {
    if (loaded === null) return null;
    const shown = kind === undefined ? loaded.usualKind(query) : loaded.fittingKind(query, kind);
    return { table, query, kind: shown, range: loaded.answeredRange(range, answeredAt) };
  }, [loaded, kind, query, table, range, answeredAt]);
  const chosen = useMemo(
    () => (loaded === null || drawing === null ? null : loaded.rowsOfChoice(drawing, choice)),
    [loaded, drawing, choice],
  );
  return (
    <>
      {loaded === null || drawing === null ? null : (
        <DrawnAnswer parts={loaded} drawing={drawing} choice={choice} onChoice={setChoice} {...rest} />
      )}
      <AnswerTable table={table} query={query} chosen={chosen} />
    </>
  );
}

type Parts = typeof import("./chart-parts.ts");

interface DrawnAnswerProps extends Omit<AnswerChartProps, "query" | "table" | "range" | "kind"> {
  parts: Parts;
  drawing: { table: Table; query: string; kind: PanelKind; range: ChartRange };
  choice: Choice | null;
  onChoice: (choice: Choice | null) => void;
}

function DrawnAnswer({ parts, drawing, choice, onChoice, workspaceId, projectId, ...rest }: DrawnAnswerProps) {
  const { times, chosen, onKind, onShow, onZoom, onZoomOut, onCompare } = rest;
  const { Charts, ImageMenu, KindField, kindsOf, partsOf, SaveToBoard, spansWithRows, titleOf } = parts;
  const { query, kind } = drawing;
  const [isSaving, setSaving] = useState(false);
  /** By measure, each of which has a drawing; the last one was selected last. */
  const selected = useRef(new Map<string, Span>());
  const role = knownWorkspace(workspaceId)?.role;
  const { from, to } = times;
  const bounds = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const isWanted = kindsOf(query).includes("line");
  const releases = useReleases({ workspaceId, projectId, bounds, span: times, isWanted });
  return (
    <div class={css.charts}>
      <div class={css.kinds}>
        <KindField query={query} kind={kind} onChange={onKind} />
        <span class={css.tools}>
          {role !== undefined && may(role, "board.update") ? (
            <Button icon={LayoutDashboard} onClick={() => setSaving(true)}>
              Save to board
            </Button>
          ) : null}
          <ImageMenu
            label="Image"
            picture={() => ({
              ...drawing,
              title: titleOf(query) || query,
              releases: picturedReleases({ workspaceId, projectId }, releases),
              isEach: true,
            })}
          />
        </span>
      </div>
      <Charts
        {...drawing}
        releases={drawnReleases({
          scope: { workspaceId, projectId },
          releases,
          onShow,
          onZoom,
          onCompare: comparing(onCompare, releases, times),
        })}
        zoom={{
          onZoom,
          onZoomOut,
          onSelect: (span, measure) => {
            selected.current.delete(measure);
            if (span !== null) selected.current.set(measure, span);
          },
        }}
        choice={choice}
        onChoice={onChoice}
      />
      {isSaving ? (
        <SaveToBoard
          workspaceId={workspaceId}
          projectId={projectId}
          queryOf={() => query}
          times={times}
          parts={() =>
            partsOf(times, spansWithRows(drawing.table, query), [...selected.current.values()].at(-1) ?? null)
          }
          range={chosen}
          kind={kind}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </div>
  );
}
