import { useState } from "preact/hooks";
import { parse } from "../../../../src/query-language/parse.ts";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import { askToClose } from "../../lib/leaving.ts";
import { KIND_LABELS, type Panel, type PanelKind, type SavedRange } from "../../model/boards.ts";
import { Button } from "../../ui/button.tsx";
import { ChangesGuard } from "../../ui/changes-guard.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import type { Range } from "../explorer/view/range.ts";
import { fittingKind, offeredRanges, savedRange } from "./board-query.ts";
import { KindField } from "./kind-field.tsx";
import { TextField } from "./text-field.tsx";
import { TimeField } from "./time-field.tsx";

interface PanelDialogProps {
  /** The panel that is changed; a new one has an empty query. */
  panel: Panel;
  /** The range of the board, which the panel can keep. */
  range: Range;
  onSave: (panel: Panel) => void;
  onClose: () => void;
}

/** Title, query, kind and time of a panel. */
export function PanelDialog({ panel, range: shown, onSave, onClose }: PanelDialogProps) {
  const [title, setTitle] = useState(panel.title);
  const [query, setQuery] = useState(panel.query);
  const [kind, setKind] = useState<PanelKind>(panel.kind);
  const [range, setRange] = useState<SavedRange | undefined>(panel.range);
  const [offered] = useState(() => [panel.range, ...offeredRanges(shown, Date.now())]);
  const [isChecked, setChecked] = useState(false);
  const isChanged =
    title !== panel.title ||
    query !== panel.query ||
    kind !== panel.kind ||
    JSON.stringify(range) !== JSON.stringify(panel.range);
  // Without changes of its own it does not ask about those of the board behind it.
  const close = (): void => (isChanged ? askToClose(onClose) : onClose());
  const error = isChecked ? errorOf(query, kind) : undefined;
  return (
    <>
      <Dialog title={panel.query === "" ? "Add panel" : "Edit panel"} onClose={close} closeOnBackdrop={false}>
        <form
          class="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setChecked(true);
            if (errorOf(query, kind) !== undefined) return;
            const { range: _, ...placed } = panel;
            const time = range === undefined ? {} : { range };
            onSave({ ...placed, title: title.trim(), query: query.trim(), kind: fittingKind(query, kind), ...time });
          }}
        >
          <TextField label="Title" value={title} maxLength={BOARD_LIMITS.title} onChange={setTitle} />
          <Field label="Query" hint={<code>level:&gt;=error | stats count() by route, bin(5m)</code>} error={error}>
            {(props) => (
              <textarea
                {...props}
                rows={4}
                value={query}
                spellcheck={false}
                onInput={({ currentTarget }) => setQuery(currentTarget.value)}
              />
            )}
          </Field>
          <KindField query={query} kind={kind} onChange={setKind} />
          <TimeField board={savedRange(shown)} range={range} offered={offered} onChange={setRange} />
          <Row>
            <Button type="submit" look="primary">
              {panel.query === "" ? "Add" : "Apply"}
            </Button>
            <Button onClick={close}>Cancel</Button>
          </Row>
        </form>
      </Dialog>
      {isChanged ? <ChangesGuard what="the panel" /> : null}
    </>
  );
}

function errorOf(query: string, kind: PanelKind): string | undefined {
  if (query.trim() === "") return "Write a query.";
  const result = parse(query);
  if (!result.ok) return `${result.error.message}.`;
  if (kind !== "table" && result.columns === null)
    return `${KIND_LABELS[kind]} needs a query that makes a table: add a pipe such as | count by level.`;
  return undefined;
}
