import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import css from "./page.module.css";

interface PageProps {
  title: string;
  narrow?: boolean;
  /** Whether the column has room for a table. */
  wide?: boolean;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page with one column. Its title is also the document's. */
export function Page({ title, narrow = false, wide = false, actions, children }: PageProps) {
  useTitle(title);
  return (
    <div class={`${css.page} ${narrow ? css.narrow : ""} ${wide ? css.wide : ""}`}>
      <div class={css.head}>
        <h1>{title}</h1>
        {actions}
      </div>
      {children}
    </div>
  );
}

export function Card({ children, title }: { children: ComponentChildren; title?: string }) {
  return (
    <section class={css.card}>
      {title === undefined ? null : <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** Controls in a wrapping row. */
export function Row({ children }: { children: ComponentChildren }) {
  return <div class={css.row}>{children}</div>;
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "Taffrail" ? title : `${title} · Taffrail`;
  }, [title]);
}
