import { visible } from "../../../lib/visible.ts";
import css from "./query-box.module.css";
import type { Option } from "./query-options.ts";

interface OptionListProps {
  id: string;
  /** Empty: the list is closed. */
  options: readonly Option[];
  /** Index of the option that the arrow keys have reached; negative for none. */
  active: number;
  /** What the counts beside the options count. */
  basis: string | null;
  onChoose: (option: Option) => void;
}

/** What the text of the box may continue with. Its options have the ids `<id>-0`, `<id>-1` and so on. */
export function OptionList({ id, options, active, basis, onChoose }: OptionListProps) {
  return (
    <>
      {/* A text area has no state of being expanded, so that the list is announced. */}
      <p class="visually-hidden" role="status">
        {options.length === 0 ? null : options.length === 1 ? "1 suggestion" : `${options.length} suggestions`}
      </p>
      <div class={css.list} hidden={options.length === 0}>
        <div class={css.options} id={id} role="listbox" aria-label="Suggestions" tabIndex={-1}>
          {options.map((option, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
            <div
              key={option.label}
              id={`${id}-${at}`}
              class={css.option}
              role="option"
              aria-selected={at === active}
              tabIndex={-1}
              // Keeps the focus in the input.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => onChoose(option)}
            >
              <span class={css.label}>{visible(option.label)}</span>
              {option.kind === undefined ? null : <span class={css.kind}>{option.kind}</span>}
              {option.count === undefined ? null : <span class={css.count}>{option.count.toLocaleString()}</span>}
            </div>
          ))}
        </div>
        {basis === null ? null : <p class={css.basis}>{basis}</p>}
      </div>
    </>
  );
}
