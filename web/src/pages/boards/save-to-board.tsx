import { useEffect, useRef, useState } from "preact/hooks";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import type { Span } from "../../charts/selection.ts";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { visible } from "../../lib/visible.ts";
import { type Board, boardCalls, type PanelKind, type SavedRange } from "../../model/boards.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import type { Range } from "../explorer/view/range.ts";
import { offeredRanges, spansOf, viewRange } from "./board-query.ts";
import { type ChartParts, fixedRange, fixedTimes } from "./kept-parts.ts";
import { KindField } from "./kind-field.tsx";
import { freePlace } from "./layout.ts";
import { titleOf } from "./panel-title.ts";
import { TextField } from "./text-field.tsx";
import { TimeField } from "./time-field.tsx";

interface SaveToBoardProps {
  workspaceId: string;
  /** Project of the query; `null`: the whole workspace. */
  projectId: string | null;
  /** Returns the query of a panel of some times: a chart of fewer hours may have finer bins. */
  queryOf: (times: Span) => string;
  /** The times that are shown. */
  times: Span;
  /** Returns the parts of the chart that can be kept, as they are when the dialog opens. */
  parts?: () => ChartParts;
  /** The range that is shown. Preselected are its own times if they are fixed, otherwise those of an event that is over. */
  range: Range;
  kind: PanelKind;
  onClose: () => void;
}

/** Value of the choice of a board that does not exist yet. */
const NEW = "";

/** Adds a query to a board that reads the same entries, or to a new one. */
export function SaveToBoard(props: SaveToBoardProps) {
  const { workspaceId, projectId, queryOf, times, range: shown, kind: first, onClose } = props;
  const boards = useLoad(workspaceId, (signal) => boardCalls.list(workspaceId, signal));
  const fitting = boards.data?.filter((board) => board.projectId === projectId) ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [kind, setKind] = useState(first);
  const [offered] = useState(() => offeredRanges(shown, Date.now()));
  const [parts] = useState(() => props.parts?.() ?? {});
  const [range, setRange] = useState<SavedRange | undefined>(() => {
    if (shown.kind === "between") return offered[0];
    // A range that moves on would leave an event that is over.
    return parts.entries !== undefined && parts.entries.end < times.end ? fixedRange(parts.entries) : undefined;
  });
  const query = queryOf(range === undefined ? times : (fixedTimes(range) ?? times));
  const [title, setTitle] = useState(() => titleOf(query));
  const [saved, setSaved] = useState<(Pick<Board, "id" | "name"> & { panel: string }) | null>(null);
  const boardId = chosen ?? fitting[0]?.id ?? NEW;
  const saving = useAction(async () => {
    const id = crypto.randomUUID().slice(0, 8);
    const spans =
      kind === "table" || kind === "number"
        ? 0
        : spansOf(query, range === undefined ? shown : viewRange(range, Date.now()), Date.now());
    const panel = { id, title: title.trim(), query, kind, ...(range === undefined ? {} : { range }) };
    if (boardId === NEW) {
      const panels = [{ ...panel, ...freePlace([], spans) }];
      setSaved({ ...(await boardCalls.create(workspaceId, { name: name.trim(), projectId, panels })), panel: id });
      return;
    }
    const { panels, version } = await boardCalls.get(workspaceId, boardId);
    const next = [...panels, { ...panel, ...freePlace(panels, spans) }];
    setSaved({ ...(await boardCalls.change(workspaceId, boardId, { version, panels: next })), panel: id });
  });
  // The dialog opens before its boards are loaded, without a field to focus.
  const form = useRef<HTMLFormElement>(null);
  const isLoaded = boards.data !== null;
  useEffect(() => {
    if (isLoaded) form.current?.querySelector("input")?.focus();
  }, [isLoaded]);
  const isReady = boardId !== NEW || name.trim() !== "";
  if (saved !== null) {
    return (
      <Dialog title="Save to board" onClose={onClose}>
        <p role="status">
          Saved to <a href={`/w/${workspaceId}/boards/${saved.id}?panel=${saved.panel}`}>{visible(saved.name)}</a>.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Save to board" onClose={onClose} closeOnBackdrop={title === titleOf(query)}>
      {boards.failure === null ? null : <Failure failure={boards.failure} onRetry={boards.reload} />}
      {boards.data === null ? (
        boards.failure === null ? (
          <Loading />
        ) : null
      ) : (
        <form
          ref={form}
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void saving.run();
          }}
        >
          <Field label="Board" hint="All members of the workspace see it.">
            {(props) => (
              <Select
                {...props}
                value={boardId}
                options={[
                  ...fitting.map(({ id, name: label }) => ({ value: id, label: visible(label) })),
                  { value: NEW, label: "New board" },
                ]}
                onChange={setChosen}
              />
            )}
          </Field>
          {boardId === NEW ? (
            <TextField
              label="Name of the board"
              value={name}
              placeholder="Checkout, Incident of Friday"
              maxLength={BOARD_LIMITS.name}
              onChange={setName}
            />
          ) : null}
          <TextField
            label="Title of the panel"
            hint={<code>{visible(query)}</code>}
            value={title}
            maxLength={BOARD_LIMITS.title}
            onChange={setTitle}
          />
          <KindField query={query} kind={kind} onChange={setKind} />
          <TimeField range={range} offered={offered} parts={parts} onChange={setRange} />
          <Problem failure={saving.failure} />
          <Row>
            <Button type="submit" look="primary" busy={saving.busy} disabled={!isReady}>
              Save
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </Row>
        </form>
      )}
    </Dialog>
  );
}
