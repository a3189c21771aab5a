import { useRef } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Menu } from "../../../ui/menu.tsx";
import { Popover } from "../../../ui/popover.tsx";
import { COLUMN_WIDTH, type Column, moved, resized, withColumn } from "../view/columns.ts";
import { ColumnChoice } from "./column-choice.tsx";
import css from "./list-head.module.css";
import rowCss from "./row.module.css";
import type { ShownColumn } from "./use-row-parts.ts";

/** @param isDone false while a width is dragged */
type ChangeColumns = (columns: readonly Column[], isDone: boolean) => void;

interface ListHeadProps {
  source: string;
  hasProject: boolean;
  columns: readonly Column[];
  cells: readonly ShownColumn[];
  /** `null` if they cannot be changed here. */
  onColumns: ChangeColumns | null;
  /** Fields that may become columns. */
  candidates: readonly string[];
}

/** The names of the columns. The chosen ones are moved, resized and removed here. */
export function ListHead({ source, hasProject, columns, cells, onColumns, candidates }: ListHeadProps) {
  const isNumeric = ({ field }: Column): boolean => cells.some((each) => each.field === field && each.isNumeric);
  return (
    <div class={`${rowCss.row} ${css.head}`} data-list-head>
      <span>Time</span>
      <span>Level</span>
      <span>{source}</span>
      {hasProject ? <span>Project</span> : null}
      {columns.map((column) =>
        onColumns === null ? (
          <span key={column.field} class={isNumeric(column) ? rowCss.numeric : undefined}>
            {visible(column.field)}
          </span>
        ) : (
          <ColumnHead
            key={column.field}
            column={column}
            isNumeric={isNumeric(column)}
            columns={columns}
            onColumns={onColumns}
          />
        ),
      )}
      <span class={css.last}>
        <span>Message and fields</span>
        {onColumns === null ? null : (
          <Popover label="Columns" look="quiet" small placement="bottom-end">
            {() => (
              <ColumnChoice columns={columns} candidates={candidates} onColumns={(next) => onColumns(next, true)} />
            )}
          </Popover>
        )}
      </span>
    </div>
  );
}

interface ColumnHeadProps {
  column: Column;
  isNumeric: boolean;
  columns: readonly Column[];
  onColumns: ChangeColumns;
}

/** Type of what is dragged: a column, to another place. */
const DRAGGED = "application/x-taffrail-column";

function ColumnHead({ column: { field, width }, isNumeric, columns, onColumns }: ColumnHeadProps) {
  const dragged = useRef<{ x: number; width: number } | null>(null);
  const at = columns.findIndex((each) => each.field === field);
  const resize = (next: number, isDone: boolean): void => onColumns(resized(columns, field, next), isDone);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu has the same actions for the keyboard.
    <span
      class={isNumeric ? `${css.column} ${css.numeric}` : css.column}
      draggable
      onDragStart={(event) => event.dataTransfer?.setData(DRAGGED, field)}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        const other = event.dataTransfer?.getData(DRAGGED) ?? "";
        const from = columns.findIndex((each) => each.field === other);
        if (from >= 0) onColumns(moved(columns, other, at - from), true);
      }}
    >
      <Menu
        label={`Column ${visible(field)}`}
        face={<span class={css.name}>{visible(field)}</span>}
        look="quiet"
        small
        items={[
          { label: "Move left", isDisabled: at === 0, onSelect: () => onColumns(moved(columns, field, -1), true) },
          {
            label: "Move right",
            isDisabled: at === columns.length - 1,
            onSelect: () => onColumns(moved(columns, field, 1), true),
          },
          {
            label: "Remove",
            isDanger: true,
            startsGroup: true,
            onSelect: () => onColumns(withColumn(columns, field), true),
          },
        ]}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a separator with a value is no rule. */}
      <span
        role="separator"
        aria-orientation="vertical"
        aria-label={`Width of ${visible(field)}`}
        aria-valuemin={COLUMN_WIDTH.least}
        aria-valuemax={COLUMN_WIDTH.most}
        aria-valuenow={width}
        tabIndex={0}
        class={css.edge}
        draggable
        onDragStart={(event) => {
          event.preventDefault();
          event.stopPropagation();
        }}
        onKeyDown={(event) => {
          const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
          if (by === 0) return;
          event.preventDefault();
          event.stopPropagation();
          resize(width + by * COLUMN_WIDTH.step, true);
        }}
        onPointerDown={(event) => {
          event.preventDefault();
          dragged.current = { x: event.clientX, width };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (dragged.current !== null) resize(dragged.current.width + event.clientX - dragged.current.x, false);
        }}
        onPointerUp={() => {
          if (dragged.current !== null) resize(width, true);
          dragged.current = null;
        }}
      />
    </span>
  );
}
