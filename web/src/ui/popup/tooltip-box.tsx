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
  onClose: () => void;
}

/** The visible tooltip of an element. */
export function TooltipBox({ targetId, text, shortcut, placement, onClose }: TooltipBoxProps) {
  const id = useId();
  const service = useMachine(zag.machine, {
    id,
    ids: { trigger: targetId },
    defaultOpen: true,
    positioning: { placement, strategy: "fixed", gutter: 6 },
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
