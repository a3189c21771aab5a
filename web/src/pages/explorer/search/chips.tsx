import { Ban, X } from "lucide";
import { useMemo } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { negated, type Term, termsOf, withoutTerm, withPipes } from "../view/query-terms.ts";
import css from "./chips.module.css";

interface ChipsProps {
  query: string;
  onQuery: (query: string) => void;
  /** Selects a test in the text, to change it there. */
  onEdit: (term: Term) => void;
}

/** The tests of a query, each with buttons to invert and to remove it. A text alone is in the box above. */
export function Chips({ query, onQuery, onEdit }: ChipsProps) {
  const parts = useMemo(() => termsOf(query), [query]);
  const terms = parts?.terms ?? [];
  if (parts === null || (terms.length < 2 && terms.every(({ filter }) => filter.kind === "text"))) return null;
  return (
    <ul class={css.chips} aria-label="Tests of the query">
      {terms.map((term, index) => (
        <Chip
          key={`${index} ${term.text}`}
          term={term}
          onEdit={() => onEdit(term)}
          onInvert={() => onQuery(negated(query, index))}
          onRemove={() => onQuery(withoutTerm(query, index))}
        />
      ))}
      <li>
        <Button small look="quiet" onClick={() => onQuery(parts.pipes === "" ? "" : withPipes("", parts.pipes))}>
          Clear query
        </Button>
      </li>
    </ul>
  );
}

interface ChipProps {
  term: Term;
  onEdit: () => void;
  onInvert: () => void;
  onRemove: () => void;
}

function Chip({ term, onEdit, onInvert, onRemove }: ChipProps) {
  const text = visible(term.text);
  const isNegated = term.filter.kind === "not";
  return (
    <li class={css.chip} data-negated={isNegated}>
      <button type="button" class={css.text} title="Edit" aria-label={`Edit ${text}`} onClick={onEdit}>
        {text}
      </button>
      <button
        type="button"
        class={css.act}
        aria-pressed={isNegated}
        aria-label={`Exclude ${text}`}
        data-tooltip={isNegated ? "Include" : "Exclude"}
        onClick={onInvert}
      >
        <Icon shape={Ban} size={12} />
      </button>
      <button type="button" class={css.act} aria-label={`Remove ${text}`} data-tooltip="Remove" onClick={onRemove}>
        <Icon shape={X} size={14} />
      </button>
    </li>
  );
}
