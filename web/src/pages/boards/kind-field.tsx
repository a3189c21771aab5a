import { KIND_LABELS, type PanelKind } from "../../model/boards.ts";
import segments from "../../ui/segments.module.css";

// SAFETY: the labels have exactly these keys.
const KINDS = Object.keys(KIND_LABELS) as PanelKind[];

interface KindFieldProps {
  kind: PanelKind;
  onChange: (kind: PanelKind) => void;
}

/** A choice of how the answer to a query is shown. */
export function KindField({ kind, onChange }: KindFieldProps) {
  return (
    <fieldset class={segments.segments}>
      <legend class="visually-hidden">Chart</legend>
      {KINDS.map((each) => (
        <label key={each} data-chosen={each === kind}>
          <input type="radio" name="kind" checked={each === kind} onChange={() => onChange(each)} />
          {KIND_LABELS[each]}
        </label>
      ))}
    </fieldset>
  );
}
