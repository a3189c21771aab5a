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

/** A page of the settings. */
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

/** Explains why controls are disabled. Disabled controls refer to it by id. */
export function RoleNote({ id, reason }: { id: string; reason: string | null }) {
  return reason === null ? null : (
    <p class={css.note} id={id}>
      {reason}
    </p>
  );
}
