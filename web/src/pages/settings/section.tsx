import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import css from "./section.module.css";

interface SectionProps {
  title: string;
  intro?: ComponentChildren;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** One page of the settings. */
export function Section({ title, intro, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section class={css.section} aria-labelledby={id}>
      <div class={css.head}>
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {intro ? <p class={css.intro}>{intro}</p> : null}
      {children}
    </section>
  );
}

/** Why some of what is here cannot be used: what is disabled names it as its description. */
export function RoleNote({ id, reason }: { id: string; reason: string | null }) {
  return reason === null ? null : (
    <p class={css.note} id={id}>
      {reason}
    </p>
  );
}
