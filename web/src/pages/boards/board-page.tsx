import { useMemo, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import { may } from "../../../../src/workspace/permissions.ts";
import { useAction } from "../../lib/action.ts";
import { askToClose, leaveFreely } from "../../lib/leaving.ts";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import { visible } from "../../lib/visible.ts";
import { type Board, boardCalls, knownBoard, type Panel } from "../../model/boards.ts";
import { knownWorkspace, retentionDaysOf } from "../../model/workspaces.ts";
import { Button } from "../../ui/button.tsx";
import { ChangesGuard } from "../../ui/changes-guard.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Page, useTitle } from "../../ui/page.tsx";
import { type Command, useCommands } from "../../ui/palette/commands.ts";
import { Problem } from "../../ui/problem.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { useMedia } from "../../ui/use-media.ts";
import { timesOf } from "../explorer/view/range.ts";
import { viewSearch } from "../explorer/view/view.ts";
import { EditControls, ViewControls } from "./board-controls.tsx";
import { panelName, viewRange } from "./board-query.ts";
import { BoardReleases } from "./board-releases.tsx";
import { type BoardView, boardSearch, REFRESH_LABELS, REFRESHES, readBoardView } from "./board-view.ts";
import css from "./boards.module.css";
import { freePlace, inOrder, isChanged, legible, settled } from "./layout.ts";
import { LoadingBoard } from "./loading-board.tsx";
import { PanelDialog } from "./panel-dialog.tsx";
import { ShownPanel } from "./shown-panel.tsx";
import { useArrange } from "./use-arrange.ts";
import { useBoardWithReleases } from "./use-board-releases.ts";

export function BoardPage() {
  const { workspaceId = "", boardId = "" } = useRoute().params;
  const loaded = useLoad(`${workspaceId} ${boardId}`, (signal) => boardCalls.get(workspaceId, boardId, signal));
  const stored = loaded.data;
  const board = useMemo(() => stored && { ...stored, panels: legible(stored.panels) }, [stored]);
  if (board !== null) return <ShownBoard key={boardId} workspaceId={workspaceId} board={board} onBoard={loaded.put} />;
  if (loaded.failure === null) return <LoadingBoard known={knownBoard(boardId)} />;
  return (
    <Page title="Board">
      <Missing loaded={loaded} />
    </Page>
  );
}

function Missing({ loaded: { failure, reload } }: { loaded: Pick<ReturnType<typeof useLoad>, "failure" | "reload"> }) {
  const { workspaceId = "" } = useRoute().params;
  if (failure === null) return null;
  if (failure.status !== 404) return <Failure failure={failure} onRetry={reload} />;
  return (
    <Empty title="Board not found">
      <a href={`/w/${workspaceId}/boards`}>All boards</a>
    </Empty>
  );
}

interface ShownBoardProps {
  workspaceId: string;
  board: Board;
  onBoard: (board: Board) => void;
}

/** Windows in which panels are one below the other. The style sheet has the same width. */
const STACKED = "(width < 800px)";
/** Milliseconds of a poll that never comes due. */
const NEVER_MS = 2 ** 31 - 1;

function ShownBoard({ workspaceId, board, onBoard }: ShownBoardProps) {
  useTitle(board.name);
  const { url, path, route } = useLocation();
  const search = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const view = useMemo(() => readBoardView(search), [search]);
  const [round, setRound] = useState(0);
  const workspace = knownWorkspace(workspaceId);
  const mayChange = workspace !== undefined && may(workspace.role, "board.update");
  const [draft, setDraft] = useState<Board | null>(null);
  const shown = draft ?? board;
  const retentionDays = retentionDaysOf(workspaceId);
  const range = JSON.stringify(view.range);
  // A range that no panel has would be a wrong heading.
  const hasOwnTimes = shown.panels.length > 0 && shown.panels.every((panel) => panel.range !== undefined);
  const times = useMemo(
    () => timesOf(view.range, Date.now(), retentionDays),
    // A choice of the address beside the range loads nothing.
    [range, round, retentionDays],
  );
  const change = (next: Partial<BoardView>): void => route(`${path}${boardSearch({ ...view, ...next })}`, true);
  const answers = useBoardWithReleases({
    ...{ workspaceId, board: shown, times, round, range, retentionDays },
    showsReleases: view.releases,
    // Of a drag over a chart, which Back undoes.
    onRange: (next) => route(`${path}${boardSearch({ ...view, range: next })}`),
  });
  const refresh = (): void => setRound((before) => before + 1);
  usePoll(
    () => {
      if (view.refresh > 0) refresh();
    },
    view.refresh > 0 ? view.refresh * 1000 : NEVER_MS,
  );

  useCommands(() => {
    if (draft !== null) return [];
    const own: Omit<Command, "group">[] = [
      { label: "Refresh now", run: refresh },
      ...(mayChange ? [{ label: "Edit board", run: () => setDraft(board) }] : []),
      ...(answers.isOverTime
        ? [
            {
              label: view.releases ? "Hide releases" : "Show releases",
              run: () => change({ releases: !view.releases }),
            },
          ]
        : []),
      { label: "Print", run: () => print() },
      ...REFRESHES.map((each) => ({
        label: REFRESH_LABELS[each],
        words: "refresh",
        run: () => change({ refresh: each }),
      })),
    ];
    return own.map((command) => ({ ...command, group: "Board" }));
  });
  const isStacked = useMedia(STACKED);
  const grid = useRef<HTMLDivElement>(null);
  const setPanels = (panels: Panel[]): void => setDraft((before) => ({ ...(before ?? board), panels }));
  const arrange = useArrange(shown.panels, setPanels, () => grid.current);
  const [edited, setEdited] = useState<Panel | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const saving = useAction(async (next: Board) => {
    const { name, panels, version } = next;
    onBoard(
      await boardCalls.change(workspaceId, board.id, { name: name.trim(), panels: inOrder(settled(panels)), version }),
    );
    setDraft(null);
  });
  const linkOf = ({ query, range }: Panel): string => {
    const project = board.projectId === null ? "" : `/p/${board.projectId}`;
    const of = { query, order: "desc" as const, live: false };
    return `/w/${workspaceId}${project}${viewSearch({ ...of, range: range === undefined ? view.range : viewRange(range, Date.now()) })}`;
  };
  const add = (): void => {
    const id = crypto.randomUUID().slice(0, 8);
    setEdited({ id, title: "", query: "", kind: "bars", ...freePlace(shown.panels) });
  };
  return (
    <div class={css.board}>
      <div class={css.bar} data-editing={draft !== null}>
        {draft === null ? (
          <h1>{visible(board.name)}</h1>
        ) : (
          <div class={css.naming}>
            <h1 class="visually-hidden">{visible(board.name)}</h1>
            <input
              aria-label="Name"
              value={draft.name}
              maxLength={100}
              autocomplete="off"
              onInput={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
            />
          </div>
        )}
        <div class={css.controls}>
          {draft === null ? (
            <ViewControls
              view={view}
              times={hasOwnTimes ? null : times}
              isBusy={answers.busy && answers.data !== null}
              hasReleases={answers.isOverTime}
              onView={change}
              onRefresh={refresh}
              onEdit={mayChange ? () => setDraft(board) : undefined}
            />
          ) : (
            <EditControls
              isFull={shown.panels.length >= BOARD_LIMITS.panels}
              isNamed={draft.name.trim() !== ""}
              isSaving={saving.busy}
              onDelete={() => setDeleting(true)}
              onAdd={add}
              onCancel={() =>
                askToClose(() => {
                  saving.clear();
                  setDraft(null);
                })
              }
              onSave={() => void saving.run(draft)}
            />
          )}
        </div>
      </div>
      <Problem failure={saving.failure} />
      {answers.failure === null ? null : <Failure failure={answers.failure} onRetry={refresh} />}
      {/* Of the same height before, so that nothing moves under the pointer. */}
      <p class={css.asked}>{answers.data === null ? "\u00a0" : <Time at={answers.data.at} />}</p>
      {shown.panels.length === 0 ? (
        <Empty title="No panels">
          <p>Run a query that makes a table in Logs and choose Save to board, or add a panel here.</p>
          {mayChange && draft === null ? <Button onClick={() => setDraft(board)}>Edit</Button> : null}
        </Empty>
      ) : (
        <div
          class={css.grid}
          ref={grid}
          data-editing={draft !== null}
          aria-busy={answers.busy}
          data-stale={answers.failure !== null}
        >
          {/* While panels can be dragged in a fixed order: an element that moves in the document loses focus and pointer. */}
          {(draft === null || isStacked ? inOrder(answers.panels) : answers.panels).map((panel, index, panels) => (
            <ShownPanel
              key={panel.id}
              panel={panel}
              nameIndex={panels.slice(0, index).filter((other) => panelName(other) === panelName(panel)).length}
              answer={answers.answerOf(panel)}
              releases={answers.releasesOf(panel)}
              link={linkOf(panel)}
              note={answers.noteOf(panel)}
              isMarked={panel.id === view.panel}
              editing={
                draft === null
                  ? null
                  : {
                      arrange,
                      isStacked,
                      onEdit: () => setEdited(panel),
                      onRemove: () => setPanels(settled(shown.panels.filter(({ id }) => id !== panel.id))),
                    }
              }
            />
          ))}
        </div>
      )}
      {draft === null ? <BoardReleases {...answers.marked} /> : null}
      <p class="visually-hidden" role="status">
        {arrange.said}
      </p>
      {draft === null || !isChanged(draft, board) ? null : <ChangesGuard what={`the board ${visible(board.name)}`} />}
      {edited === null ? null : (
        <PanelDialog
          panel={edited}
          range={view.range}
          onClose={() => setEdited(null)}
          onSave={(panel) => {
            const isNew = shown.panels.every(({ id }) => id !== panel.id);
            setPanels(
              isNew ? [...shown.panels, panel] : shown.panels.map((each) => (each.id === panel.id ? panel : each)),
            );
            setEdited(null);
          }}
        />
      )}
      {isDeleting ? (
        <Confirm
          title="Delete board"
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await boardCalls.remove(workspaceId, board.id);
            leaveFreely(() => route(`/w/${workspaceId}/boards`));
          }}
        >
          <p>The board is deleted for all members of the workspace. Entries stay.</p>
        </Confirm>
      ) : null}
    </div>
  );
}
