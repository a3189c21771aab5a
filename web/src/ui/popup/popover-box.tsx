import * as zag from "@zag-js/popover";
import { normalizeProps, useMachine } from "@zag-js/preact";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Layer } from "./layer.tsx";
import css from "./popup.module.css";

export interface PopoverBoxProps {
  triggerId: string;
  label: string;
  placement: "bottom-start" | "bottom-end" | "bottom";
  /** Returns what the box is placed beside; absent: the trigger. */
  anchor?: () => DOMRect | null;
  onClose: () => void;
  children: ComponentChildren;
}

/** The open box of a popover. */
export function PopoverBox({ triggerId, label, placement, anchor, onClose, children }: PopoverBoxProps) {
  const id = useId();
  const service = useMachine(zag.machine, {
    id,
    ids: { trigger: triggerId },
    defaultOpen: true,
    portalled: false,
    positioning: { placement, strategy: "fixed", gutter: 4, ...(anchor && { getAnchorRect: anchor }) },
    onEscapeKeyDown: (event) => {
      // Heard before the field, whose open list it closes, not the box around that.
      const isOfList =
        event.target instanceof Element && event.target.matches("input[role=combobox][aria-expanded=true]");
      if (isOfList) event.preventDefault();
    },
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const api = zag.connect(service, normalizeProps);
  return (
    <Layer positioner={api.getPositionerProps()} focused=":is(input, textarea, button, a[href], [tabindex='0'])">
      <div
        {...api.getContentProps()}
        role="dialog"
        aria-label={label}
        aria-labelledby={undefined}
        class={`${css.box} ${css.content}`}
      >
        {children}
      </div>
    </Layer>
  );
}
