import { useId, useState } from "preact/hooks";
import { parseDataPath } from "../../../../../src/logs/query/data-path.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";
import type { Scalar } from "../filters.ts";
import {
  type DataFilters,
  kindOf,
  OPERATORS,
  type Operator,
  type OperatorValue,
  readValue,
  VALUE_KINDS,
  type ValueKind,
  withTest,
} from "../view/data-conditions.ts";
import css from "./filter-panel.module.css";

/** An operator, or `missing` for the API's `exists: false`. */
type Choice = Operator | "missing";
const CHOICES: readonly { value: Choice; label: string }[] = [
  ...OPERATORS.map(({ op, label }) => ({ value: op, label })),
  { value: "missing", label: "does not exist" },
];
const ORDERED: ReadonlySet<Choice> = new Set(["gt", "gte", "lt", "lte"]);

interface DataFilterProps {
  data: DataFilters | undefined;
  /** Paths that occur in the loaded entries, with their values. */
  paths: ReadonlyMap<string, readonly Scalar[]>;
  onChange: (data: DataFilters) => void;
}

type Part = "path" | "value";

/**
 * Adds a condition on a member of `data`. Conditions on one path with different operators are combined, for example at
 * least and less than.
 */
export function DataFilter({ data, paths, onChange }: DataFilterProps) {
  const [path, setPath] = useState("");
  const [choice, setChoice] = useState<Choice>("eq");
  const [kind, setKind] = useState<ValueKind>("text");
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<{ part: Part; message: string } | null>(null);
  const id = useId();
  const values = paths.get(path) ?? [];
  const needsValue = choice !== "exists" && choice !== "missing";
  const kinds = ORDERED.has(choice) ? VALUE_KINDS.slice(0, 2) : VALUE_KINDS;
  const shownKind = kinds.includes(kind) ? kind : "text";
  const error = (part: Part): string | undefined => (wrong?.part === part ? wrong.message : undefined);

  function add(): void {
    const name = path.trim();
    if (parseDataPath(name) === null) {
      setWrong({ part: "path", message: 'Join names with "."; write a name that contains a dot as ["a.b"].' });
      return;
    }
    const read = needsValue
      ? readValues(text, shownKind, choice === "in")
      : ({ ok: true, value: choice === "exists" } as const);
    if (!read.ok) {
      setWrong({ part: "value", message: read.message });
      return;
    }
    onChange(withTest(data, { path: name, op: choice === "missing" ? "exists" : choice, value: read.value }));
    setWrong(null);
    setText("");
  }

  return (
    <form
      class={css.group}
      aria-labelledby={`${id}-legend`}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <div class={css.legend} id={`${id}-legend`}>
        Data
      </div>
      <Field label="Path" error={error("path")}>
        {(props) => (
          <input
            {...props}
            list={`${id}-paths`}
            value={path}
            placeholder="user.plan"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              setPath(currentTarget.value);
              const [first] = paths.get(currentTarget.value) ?? [];
              if (first !== undefined) setKind(kindOf(first));
            }}
          />
        )}
      </Field>
      <datalist id={`${id}-paths`}>
        {[...paths.keys()].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Field label="Condition">
        {(props) => <Select {...props} value={choice} options={CHOICES} onChange={setChoice} />}
      </Field>
      {needsValue ? (
        <>
          <Field label="Data type">
            {(props) => (
              <Select
                {...props}
                value={shownKind}
                options={kinds.map((each) => ({ value: each, label: each }))}
                onChange={setKind}
              />
            )}
          </Field>
          {shownKind === "null" ? null : (
            <Field label={choice === "in" ? "Values, one per line" : "Value"} error={error("value")}>
              {(props) =>
                choice === "in" ? (
                  <textarea
                    {...props}
                    rows={3}
                    value={text}
                    onInput={({ currentTarget }) => setText(currentTarget.value)}
                  />
                ) : (
                  <input
                    {...props}
                    list={`${id}-values`}
                    value={text}
                    autocomplete="off"
                    spellcheck={false}
                    onInput={({ currentTarget }) => setText(currentTarget.value)}
                  />
                )
              }
            </Field>
          )}
          <datalist id={`${id}-values`}>
            {values.map((each) => (
              <option key={String(each)} value={String(each)} />
            ))}
          </datalist>
        </>
      ) : null}
      <div>
        <Button small type="submit">
          Add data filter
        </Button>
      </div>
    </form>
  );
}

function readValues(
  text: string,
  kind: ValueKind,
  isList: boolean,
): { ok: true; value: OperatorValue } | { ok: false; message: string } {
  if (!isList) return readValue(text, kind);
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length === 0 && kind !== "null") return { ok: false, message: "Enter at least one value." };
  const values: Scalar[] = [];
  for (const line of kind === "null" ? [""] : lines) {
    const read = readValue(line, kind);
    if (!read.ok) return { ok: false, message: `${line}: ${read.message}` };
    values.push(read.value);
  }
  return { ok: true, value: values };
}
