import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Failure, Loading } from "../../../ui/states.tsx";
import type { FilterPatch } from "../filters.ts";
import { EntryList } from "../results/entry-list.tsx";
import css from "./context-view.module.css";
import { type EntryPlace, type Neighbours, useNeighbours } from "./use-neighbours.ts";

interface ContextProps {
  workspaceId: string;
  entry: EntryPlace;
  /** Everything that it has is shown at once: it was asked for by a link. */
  isOpened: boolean;
  /** Another entry takes its place. */
  onShow: (entry: EntryPlace) => void;
  onClose: () => void;
  onFilter: (patch: FilterPatch) => void;
}

/** An entry amid those that its project received before and after it. */
export function ContextView({ workspaceId, entry, isOpened, onShow, onClose, onFilter }: ContextProps) {
  const around = useNeighbours(workspaceId, entry);
  return (
    <Dialog title="In context" shape="panel" onClose={onClose}>
      <div class={css.body}>
        <p class={css.hint}>All entries of the project in the order in which they arrived, whatever the filters.</p>
        <Edge side="before" around={around} />
        {around.entries === null ? null : (
          <EntryList
            key={entry.id}
            label="Entries around the chosen one"
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

/** What there is to load on one side, or what went wrong with it. */
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
        <span class={css.hint}>{side === "before" ? "Nothing earlier is kept." : "Nothing later so far."}</span>
      )}
    </div>
  );
}
