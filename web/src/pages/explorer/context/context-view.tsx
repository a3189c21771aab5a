import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { loadProjects } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import segments from "../../../ui/segments.module.css";
import { Failure, Loading } from "../../../ui/states.tsx";
import type { FilterPatch } from "../filters.ts";
import { EntryList } from "../results/entry-list.tsx";
import { CONTEXTS, type ContextBy, type EntryRef } from "../view/entry-ref.ts";
import css from "./context-view.module.css";
import { type Side, sameValue } from "./neighbour-source.ts";
import { type Neighbours, useNeighbours } from "./use-neighbours.ts";

const LABELS: Readonly<Record<ContextBy, string>> = {
  arrival: "Arrival",
  session: "Session",
  trace: "Trace",
  service: "Service",
  host: "Host",
};

const HINTS: Readonly<Record<ContextBy, string>> = {
  arrival: "All entries of the project in order of arrival, ignoring filters.",
  session: "All entries of this session in order of time, of all projects.",
  trace: "All entries of this trace in order of time, of all projects.",
  service: "The project's entries of this service in order of time.",
  host: "The project's entries of this host in order of time.",
};

interface ContextProps {
  workspaceId: string;
  entry: EntryRef;
  by: ContextBy;
  onBy: (by: ContextBy) => void;
  /** Whether the entry's details are open: true if a link opened the view. */
  isOpened: boolean;
  /** Shows another entry instead. */
  onShow: (entry: EntryRef) => void;
  onClose: () => void;
  onFilter: (patch: FilterPatch) => void;
}

/** An entry with its neighbours: by arrival, or those of the same session, trace, service or host. */
export function ContextView({ workspaceId, entry, by, onBy, isOpened, onShow, onClose, onFilter }: ContextProps) {
  const around = useNeighbours(workspaceId, entry, by);
  const chosen = around.entries?.find(({ id }) => id === entry.id);
  const isOfAllProjects = by === "session" || by === "trace";
  const projects = useLoad(isOfAllProjects ? workspaceId : "", async (signal) =>
    isOfAllProjects ? loadProjects(workspaceId, signal) : [],
  );
  return (
    <Dialog title="In context" shape="panel" onClose={onClose}>
      <div class={css.body}>
        <fieldset class={segments.segments}>
          <legend class="visually-hidden">Entries of the same</legend>
          {CONTEXTS.map((each) => (
            <label key={each} data-chosen={each === by}>
              <input
                type="radio"
                name="context"
                checked={each === by}
                disabled={each !== by && (chosen === undefined || sameValue(chosen, each) === null)}
                onChange={() => onBy(each)}
              />
              {LABELS[each]}
            </label>
          ))}
        </fieldset>
        <p class={css.hint}>
          {HINTS[by]}
          {chosen === undefined || sameValue(chosen, by) !== null ? null : " This entry has none."}
        </p>
        <Edge side="before" around={around} />
        {around.entries === null ? null : (
          <EntryList
            key={`${entry.id} ${by}`}
            label="Neighbouring entries"
            entries={around.entries}
            projectNames={new Map(projects.data?.map(({ id, name }) => [id, visible(name)]))}
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
function Edge({ side, around }: { side: Side; around: Neighbours }) {
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
