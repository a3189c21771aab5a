import { useState } from "preact/hooks";
import { parse } from "../../../../src/query-language/parse.ts";
import { print, printFilter } from "../../../../src/query-language/print.ts";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { type Board, boardCalls, type PanelKind } from "../../model/boards.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { visible } from "../explorer/view/visible.ts";
import { KindField } from "./kind-field.tsx";
import { freePlace } from "./layout.ts";
import { TextField } from "./text-field.tsx";

interface SaveToBoardProps {
  workspaceId: string;
  /** Project of the query; `null`: the whole workspace. */
  projectId: string | null;
  query: string;
  kind: PanelKind;
  onClose: () => void;
}

/** Value of the choice of a board that does not exist yet. */
const NEW = "";

/** Returns a title that a query suggests: what it makes, and of which entries. */
function titleOf(query: string): string {
  const parsed = parse(query);
  if (!parsed.ok) return "";
  const { filter, pipes } = parsed.query;
  const made = print({ filter: { kind: "all" }, pipes }).replace(/^\*? *\| */, "");
  return (filter.kind === "all" ? made : `${made}: ${printFilter(filter)}`).slice(0, BOARD_LIMITS.title);
}

/** Adds a query to a board that reads the same entries, or to a new one. */
export function SaveToBoard({ workspaceId, projectId, query, kind: first, onClose }: SaveToBoardProps) {
  const boards = useLoad(workspaceId, (signal) => boardCalls.list(workspaceId, signal));
  const fitting = boards.data?.filter((board) => board.projectId === projectId) ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState(projectId === null ? "All projects" : "Charts");
  const [title, setTitle] = useState(() => titleOf(query));
  const [kind, setKind] = useState(first);
  const [saved, setSaved] = useState<Pick<Board, "id" | "name"> | null>(null);
  const boardId = chosen ?? fitting[0]?.id ?? NEW;
  const saving = useAction(async () => {
    const panel = { id: crypto.randomUUID().slice(0, 8), title: title.trim(), query, kind };
    if (boardId === NEW) {
      const panels = [{ ...panel, ...freePlace([]) }];
      setSaved(await boardCalls.create(workspaceId, { name: name.trim(), projectId, panels }));
      return;
    }
    const { panels, version } = await boardCalls.get(workspaceId, boardId);
    const next = [...panels, { ...panel, ...freePlace(panels) }];
    setSaved(await boardCalls.change(workspaceId, boardId, { version, panels: next }));
  });
  const isReady = boardId !== NEW || name.trim() !== "";
  if (saved !== null) {
    return (
      <Dialog title="Save to board" onClose={onClose}>
        <p role="status">
          Saved to <a href={`/w/${workspaceId}/boards/${saved.id}`}>{visible(saved.name)}</a>.
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
            <TextField label="Name" value={name} maxLength={BOARD_LIMITS.name} onChange={setName} />
          ) : null}
          <TextField
            label="Title"
            hint={<code>{visible(query)}</code>}
            value={title}
            maxLength={BOARD_LIMITS.title}
            onChange={setTitle}
          />
          <KindField query={query} kind={kind} onChange={setKind} />
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
