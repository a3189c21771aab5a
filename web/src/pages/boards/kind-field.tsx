import { KIND_LABELS, type PanelKind } from "../../model/boards.ts";
import segments from "../../ui/segments.module.css";
import { fittingKind, kindsOf } from "./board-query.ts";

// SAFETY: the labels have exactly these keys.
const KINDS = Object.keys(KIND_LABELS) as PanelKind[];

interface KindFieldProps {
  /** The query that is shown. */
  query: string;
  kind: PanelKind;
  onChange: (kind: PanelKind) => void;
}

/** A choice of how the answer to a query is shown, of the kinds that fit it and the current one. */
export function KindField({ query, kind: chosen, onChange }: KindFieldProps) {
  const kind = fittingKind(query, chosen);
  const fitting = kindsOf(query);
  return (
    <fieldset class={segments.segments}>
      <legend class="visually-hidden">Shown as</legend>
      {KINDS.filter((each) => each === kind || fitting.includes(each)).map((each) => (
        <label key={each} data-chosen={each === kind}>
          <input type="radio" name="kind" checked={each === kind} onChange={() => onChange(each)} />
          {KIND_LABELS[each]}
        </label>
      ))}
    </fieldset>
  );
}
