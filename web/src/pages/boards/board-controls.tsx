import { Pencil, Plus, Printer, RefreshCw, Tag } from "lucide";
import { Button, IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/select.tsx";
import { TimeRange } from "../explorer/toolbar/time-range.tsx";
import type { Times } from "../explorer/view/range.ts";
import { type BoardView, REFRESH_LABELS, REFRESHES } from "./board-view.ts";
import css from "./boards.module.css";

interface ViewControlsProps {
  view: BoardView;
  /** `null` if no panel has the times of the board. */
  times: Times | null;
  isBusy: boolean;
  /** Whether panels have a time axis, on which releases can be marked. */
  hasReleases: boolean;
  onView: (next: Partial<BoardView>) => void;
  onRefresh: () => void;
  /** `undefined` for those who may not change the board. */
  onEdit: (() => void) | undefined;
}

/** The controls of a board that is looked at. */
export function ViewControls({ view, times, isBusy, hasReleases, onView, onRefresh, onEdit }: ViewControlsProps) {
  return (
    <>
      <div class={css.times}>
        {times === null ? null : <TimeRange range={view.range} times={times} onChange={(range) => onView({ range })} />}
        <Select
          label="Refresh"
          value={String(view.refresh)}
          options={REFRESHES.map((each) => ({ value: String(each), label: REFRESH_LABELS[each] }))}
          onChange={(value) => onView({ refresh: REFRESHES.find((each) => String(each) === value) ?? 0 })}
        />
        <IconButton look="plain" icon={RefreshCw} label="Refresh now" busy={isBusy} onClick={onRefresh} />
      </div>
      <div class={css.others}>
        {/* Also before a release is found: a button that comes late moves the others. */}
        {hasReleases ? (
          <IconButton
            look="plain"
            icon={Tag}
            label="Releases"
            aria-pressed={view.releases}
            onClick={() => onView({ releases: !view.releases })}
          />
        ) : null}
        <IconButton look="plain" icon={Printer} label="Print" onClick={() => print()} />
        {onEdit === undefined ? null : (
          <Button icon={Pencil} onClick={onEdit}>
            Edit
          </Button>
        )}
      </div>
    </>
  );
}

interface EditControlsProps {
  /** Whether the board has as many panels as it may have. */
  isFull: boolean;
  isNamed: boolean;
  isSaving: boolean;
  onDelete: () => void;
  onAdd: () => void;
  onCancel: () => void;
  onSave: () => void;
}

/** The controls of a board that is edited. */
export function EditControls({ isFull, isNamed, isSaving, onDelete, onAdd, onCancel, onSave }: EditControlsProps) {
  return (
    <>
      <Button look="danger" onClick={onDelete}>
        Delete board
      </Button>
      <Button icon={Plus} onClick={onAdd} disabled={isFull}>
        Add panel
      </Button>
      <Button onClick={onCancel}>Cancel</Button>
      <Button look="primary" busy={isSaving} disabled={!isNamed} onClick={onSave}>
        Save
      </Button>
    </>
  );
}
