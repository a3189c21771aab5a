import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Loaded } from "../../lib/load.ts";
import { Failure, Loading } from "../../ui/states.tsx";
import css from "./overview.module.css";

interface PartProps<T> {
  title: string;
  /** Page with more about it. */
  more?: { href: string; label: string };
  loaded: Pick<Loaded<T>, "data" | "failure" | "reload">;
  /** Takes the whole width. */
  isWide?: boolean;
  children: (data: T) => ComponentChildren;
}

/** A part of the overview, which loads and fails for itself. */
export function Part<T>({ title, more, loaded: { data, failure, reload }, isWide = false, children }: PartProps<T>) {
  const id = useId();
  return (
    <section class={css.part} data-wide={isWide} aria-labelledby={id}>
      <div class={css.partHead}>
        <h2 id={id}>{title}</h2>
        {more === undefined ? null : <a href={more.href}>{more.label}</a>}
      </div>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null ? failure ? null : <Loading /> : children(data)}
    </section>
  );
}
