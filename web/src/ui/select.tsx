import { ChevronsUpDown } from "lucide";
import { useId, useState } from "preact/hooks";
import { Icon, type IconShape } from "./icon.tsx";
import css from "./select.module.css";
import { lazyModule, useLazy } from "./use-lazy.ts";

/** The list with its library, loaded when a select is about to open, so that no page waits for it. */
const LIST = lazyModule(() => import("./popup/select-list.tsx"));

export interface SelectOption<V extends string> {
  value: V;
  label: string;
  /** Shown at the end of the option's line. */
  hint?: string | undefined;
  /** Indented: a part of an option above. */
  isNested?: boolean | undefined;
}

interface SelectProps<V extends string> {
  /** Attributes that a `Field` gives its control. */
  id?: string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: boolean;
  /** Accessible name, if no label belongs to the select. */
  label?: string;
  value: V;
  options: readonly SelectOption<V>[];
  onChange: (value: V) => void;
  disabled?: boolean;
  small?: boolean;
  look?: "plain" | "quiet";
  /** Shown before the value. */
  icon?: IconShape;
  /** Name of the explorer's shortcut that focuses the select. */
  shortcut?: string;
}

/** A choice of one of several options. */
export function Select<V extends string>({ value, options, onChange, label, icon, shortcut, ...rest }: SelectProps<V>) {
  const { small = false, look = "plain", disabled = false, ...attributes } = rest;
  const [isOpen, setOpen] = useState(false);
  const list = useLazy(LIST, isOpen, () => setOpen(false));
  const ownId = useId();
  const id = rest.id ?? ownId;
  const chosen = options.findIndex((option) => option.value === value);
  const className = [css.trigger, small ? css.small : "", look === "quiet" ? css.quiet : ""].join(" ");
  return (
    <>
      <button
        type="button"
        {...attributes}
        id={id}
        class={className}
        role="combobox"
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        disabled={disabled}
        data-shortcut={shortcut}
        onPointerEnter={LIST.preload}
        onFocus={LIST.preload}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (!OPENING.has(event.key) || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          event.stopPropagation();
          setOpen(true);
        }}
      >
        {icon === undefined ? null : (
          <span class={css.sign}>
            <Icon shape={icon} />
          </span>
        )}
        <span class={css.value}>{options[chosen]?.label ?? value}</span>
        <span class={css.sign}>
          <Icon shape={ChevronsUpDown} size={14} />
        </span>
      </button>
      {list === null ? null : (
        <list.SelectList
          triggerId={id}
          listId={`${id}-list`}
          chosen={chosen}
          options={options}
          onChoose={(index) => {
            const option = options[index];
            if (option) onChange(option.value);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** Keys that open the list. Letters do not: they are shortcuts of the page. */
const OPENING = new Set(["ArrowDown", "ArrowUp", "Enter", " ", "Home", "End"]);
