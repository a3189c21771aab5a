import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Failure, Loading } from "../../../ui/states.tsx";
import type { FilterPatch } from "../filters.ts";
import { EntryList } from "../results/entry-list.tsx";
import css from "./context-view.module.css";
import { type EntryRef, type Neighbours, useNeighbours } from "./use-neighbours.ts";

interface ContextProps {
  workspaceId: string;
  entry: EntryRef;
  /** Whether the entry's details are open: true if a link opened the view. */
  isOpened: boolean;
  /** Shows another entry instead. */
  onShow: (entry: EntryRef) => void;
  onClose: () => void;
  onFilter: (patch: FilterPatch) => void;
}

/** An entry with its neighbours by `seq`. */
export function ContextView({ workspaceId, entry, isOpened, onShow, onClose, onFilter }: ContextProps) {
  const around = useNeighbours(workspaceId, entry);
  return (
    <Dialog title="In context" shape="panel" onClose={onClose}>
      <div class={css.body}>
        <p class={css.hint}>All entries of the project in order of arrival, ignoring filters.</p>
        <Edge side="before" around={around} />
        {around.entries === null ? null : (
          <EntryList
            key={entry.id}
            label="Neighbouring entries"
            entries={around.entries}
            follow={false}
            marked={entry.id}
            opened={isOpened}
            hasMore={around.after.hasMore}
            isIdle={!around.after.busy && around.after.failure === null}
            onNearEnd={() => around.more("after")}
            onContext={onShow}
            onFilter={(patch) => {
              onFilter(patch);
              onClose();
            }}
          />
        )}
        <Edge side="after" around={around} />
      </div>
    </Dialog>
  );
}

/** The load button or the failure of one side. */
function Edge({ side, around }: { side: "before" | "after"; around: Neighbours }) {
  const { busy, failure, hasMore } = around[side];
  if (failure !== null) return <Failure failure={failure} onRetry={() => around.more(side)} />;
  if (around.entries === null) return side === "before" ? <Loading /> : null;
  return (
    <div class={css.edge}>
      {hasMore ? (
        <Button small busy={busy} onClick={() => around.more(side)}>
          {side === "before" ? "Load earlier entries" : "Load later entries"}
        </Button>
      ) : (
        <span class={css.hint}>{side === "before" ? "No earlier entries." : "No later entries yet."}</span>
      )}
    </div>
  );
}
