import type { ComponentChildren, HTMLAttributes } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import css from "./popup.module.css";

interface LayerProps {
  /** Attributes of the positioned element, from the popup's machine. */
  positioner: HTMLAttributes<HTMLDivElement>;
  /** Selector of the part that gets the focus; without it the focus stays where it is. */
  focused?: string;
  children: ComponentChildren;
}

/** Shows its content in the browser's top layer while it is rendered. */
export function Layer({ positioner, focused, children }: LayerProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    ref.current?.showPopover();
    if (focused !== undefined) ref.current?.querySelector<HTMLElement>(focused)?.focus({ preventScroll: true });
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its content has the keys; this keeps one from what is around.
    <div
      {...positioner}
      ref={ref}
      popover="manual"
      class={css.layer}
      onKeyDown={(event) => {
        // Escape closes the popup alone, not a dialog around it.
        if (event.key === "Escape") event.stopPropagation();
      }}
    >
      {children}
    </div>
  );
}
