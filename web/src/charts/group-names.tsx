import { visible } from "../lib/visible.ts";
import { Popover } from "../ui/popover.tsx";
import css from "./legend.module.css";

/** Names in the list. The table has all. */
const MAX_LISTED = 500;

interface GroupNamesProps {
  /** Text of the button. */
  label: string;
  /** Accessible name, if it says more than the text. */
  name?: string;
  names: readonly string[];
}

/** A button in a line of text that lists the names of groups which have no drawing of their own. */
export function GroupNames({ label, name = label, names }: GroupNamesProps) {
  const left = names.length - MAX_LISTED;
  return (
    <Popover label={label} name={name} class={css.names}>
      {() => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the list scrolls, and Escape closes the box that has the focus.
        <ul class={css.listed} tabIndex={0} aria-label={name}>
          {names.slice(0, MAX_LISTED).map((each, at) => (
            <li key={at}>{visible(each)}</li>
          ))}
          {left > 0 ? <li class={css.more}>{left} more in the table</li> : null}
        </ul>
      )}
    </Popover>
  );
}
