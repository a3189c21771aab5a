import { normalizeProps, useMachine } from "@zag-js/preact";
import * as zag from "@zag-js/tooltip";
import { useId } from "preact/hooks";
import { Layer } from "./layer.tsx";
import css from "./popup.module.css";

export interface TooltipBoxProps {
  targetId: string;
  text: string;
  shortcut: string | undefined;
  placement: "bottom" | "right";
  /** Pixels to keep free below the element around the target that has `data-tooltip-below`; absent: the tooltip is at the target. */
  below: number | undefined;
  onClose: () => void;
}

/** The visible tooltip of an element. */
export function TooltipBox({ targetId, text, shortcut, placement, below, onClose }: TooltipBoxProps) {
  const id = useId();
  const service = useMachine(zag.machine, {
    id,
    ids: { trigger: targetId },
    defaultOpen: true,
    positioning: {
      placement: below === undefined ? placement : sideOf(targetId),
      strategy: "fixed",
      gutter: 6,
      ...(below !== undefined && { getAnchorRect: () => columnOf(targetId, below) }),
    },
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const api = zag.connect(service, normalizeProps);
  return (
    <Layer positioner={api.getPositionerProps()}>
      <div {...api.getContentProps()} class={css.tip}>
        {text}
        {shortcut === undefined ? null : <kbd>{shortcut}</kbd>}
      </div>
    </Layer>
  );
}

/** Pixels from an end of a drawing within which a tooltip in the middle of its target would reach beyond it: half of its greatest width. */
const END = 200;

/** Where a tooltip below a drawing may begin: right of what is to be kept free (`data-tooltip-clear`), if that is beside the rest of the page. */
function startOf(drawing: DOMRect): number {
  const kept = document.querySelector("[data-tooltip-clear]")?.getBoundingClientRect();
  const isBeside = kept !== undefined && kept.width > 0 && kept.width < drawing.width / 2;
  return isBeside ? Math.max(drawing.left, kept.right) : drawing.left;
}

/** At which end the tooltip begins or ends at its target, so that it stays within the drawing. */
function sideOf(targetId: string): "bottom-start" | "bottom-end" | "bottom" {
  const target = document.getElementById(targetId);
  const drawing = target?.closest("[data-tooltip-below]")?.getBoundingClientRect();
  if (!target || !drawing) return "bottom";
  const { left, right } = target.getBoundingClientRect();
  return left - startOf(drawing) < END ? "bottom-start" : drawing.right - right < END ? "bottom-end" : "bottom";
}

/** Returns the target with everything of its drawing that is below it, so that the tooltip covers none of it. */
function columnOf(targetId: string, below: number): DOMRect | null {
  const target = document.getElementById(targetId);
  const drawing = target?.closest("[data-tooltip-below]")?.getBoundingClientRect();
  if (!target || !drawing) return null;
  const { left, top, width } = target.getBoundingClientRect();
  return new DOMRect(Math.max(left, startOf(drawing)), top, width, drawing.bottom + below - top);
}
