import type { ComponentChildren } from "preact";
import css from "./items.module.css";

interface ItemsProps {
  label: string;
  /** Whether each item has the same four facts, of which the third may be missing: in columns, in a container with room for them. */
  inColumns?: boolean;
  children: ComponentChildren;
}

/** A list of items with a title, facts and buttons. */
export function Items({ label, inColumns = false, children }: ItemsProps) {
  return (
    <ul class={inColumns ? `${css.items} ${css.columns}` : css.items} aria-label={label}>
      {children}
    </ul>
  );
}

interface ItemProps {
  title: ComponentChildren;
  /** Name and value pairs; `null` entries are skipped. */
  facts?: readonly (readonly [name: string, value: ComponentChildren] | null)[];
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

export function Item({ title, facts = [], actions, children }: ItemProps) {
  const shown = facts.filter((fact) => fact !== null);
  return (
    <li class={css.item}>
      <div class={css.what}>
        <div class={css.title}>{title}</div>
        {shown.length > 0 ? <Facts facts={shown} /> : null}
        {children}
      </div>
      {actions ? <div class={css.actions}>{actions}</div> : null}
    </li>
  );
}

/** Name and value pairs in a wrapping row. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class={css.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
