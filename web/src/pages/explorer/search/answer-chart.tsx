import { LayoutDashboard } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { may } from "../../../../../src/workspace/permissions.ts";
import type { Table } from "../../../charts/chart-data.ts";
import type { PanelKind } from "../../../model/boards.ts";
import { workspaces } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { type CompareRange, comparing } from "../../investigate/releases/releases.ts";
import { useReleases } from "../../investigate/releases/use-releases.ts";
import type { Range, Times } from "../view/range.ts";
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

/** A chart of a table, with a choice of its kind. The table is below it. */
export function AnswerChart({ workspaceId, projectId, query, table, range, times, chosen, ...rest }: AnswerChartProps) {
  const { kind, onKind, onShow, onZoom, onZoomOut, onCompare } = rest;
  const [isSaving, setSaving] = useState(false);
  const loaded = useLazy(PARTS, true, () => undefined);
  const answeredAt = useMemo(() => Date.now(), [table]);
  const role = workspaces.value?.find(({ id }) => id === workspaceId)?.role;
  const { from, to } = times;
  const bounds = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const isOverTime = loaded?.kindsOf(query).includes("line") ?? false;
  const releases = useReleases({ workspaceId, projectId, bounds, span: times, isWanted: isOverTime });
  if (loaded === null) return null;
  const { Charts, fittingKind, ImageMenu, KindField, SaveToBoard, titleOf, usualKind } = loaded;
  const drawn = loaded.answeredRange(range, answeredAt);
  const shown = kind === undefined ? usualKind(query) : fittingKind(query, kind);
  return (
    <div class={css.charts}>
      <div class={css.kinds}>
        <KindField query={query} kind={shown} onChange={onKind} />
        <span class={css.tools}>
          {role !== undefined && may(role, "board.update") ? (
            <Button icon={LayoutDashboard} onClick={() => setSaving(true)}>
              Save to board
            </Button>
          ) : null}
          <ImageMenu
            label="Image"
            picture={() => ({
              title: titleOf(query) || query,
              table,
              query,
              kind: shown,
              range: drawn,
              releases,
              isEach: true,
            })}
          />
        </span>
      </div>
      <Charts
        table={table}
        query={query}
        kind={shown}
        range={drawn}
        releases={{
          scope: { workspaceId, projectId },
          releases,
          onShow,
          onZoom,
          onCompare: comparing(onCompare, releases, times),
        }}
        zoom={{ onZoom, onZoomOut }}
      />
      {isSaving ? (
        <SaveToBoard
          workspaceId={workspaceId}
          projectId={projectId}
          query={query}
          range={chosen}
          kind={shown}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </div>
  );
}
