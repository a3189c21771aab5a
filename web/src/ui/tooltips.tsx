import { useEffect, useRef, useState } from "preact/hooks";
import { lazyModule, useLazy } from "./use-lazy.ts";

const BOX = lazyModule(() => import("./popup/tooltip-box.tsx"));

/** Milliseconds that the pointer rests before a tooltip appears. */
const DELAY_MS = 400;

interface Tip {
  targetId: string;
  text: string;
  shortcut: string | undefined;
  placement: "bottom" | "right";
  below: number | undefined;
}

let lastId = 0;

/**
 * Tooltips of all elements with `data-tooltip`, for the pointer and the keyboard. A tooltip repeats the element's
 * accessible name, so that it is never the only place of a text. A text that changes while it is shown, such as one that is loaded,
 * is shown as it is then.
 */
export function Tooltips() {
  const [tip, setTip] = useState<Tip | null>(null);
  /** Ends the tooltip and the look at its text, which would show it again when it changes. */
  const dismiss = useRef(() => setTip(null));
  const box = useLazy(BOX, tip !== null, () => setTip(null));
  useEffect(() => {
    let timer = 0;
    let current: HTMLElement | null = null;
    const changed = new MutationObserver(([record]) => {
      if (record?.target instanceof HTMLElement) describe(record.target);
    });
    const hide = (): void => {
      clearTimeout(timer);
      changed.disconnect();
      setTip(null);
    };
    dismiss.current = hide;
    const show = (target: HTMLElement): void => {
      describe(target);
      changed.observe(target, { attributeFilter: ["data-tooltip"] });
    };
    const describe = (target: HTMLElement): void => {
      if (target.dataset.tooltip === undefined) {
        hide();
        return;
      }
      if (target.id === "") target.id = `tip-${++lastId}`;
      const { tooltip: text = "", shortcutKey: shortcut, tooltipSide } = target.dataset;
      const below = target.closest<HTMLElement>("[data-tooltip-below]")?.dataset.tooltipBelow;
      setTip({
        targetId: target.id,
        text,
        shortcut,
        placement: tooltipSide === "right" ? "right" : "bottom",
        below: below === undefined ? undefined : Number(below),
      });
    };
    const over = (event: PointerEvent): void => {
      if (event.pointerType !== "mouse") return;
      const target = withTooltip(event.target);
      // Also from none to none, as by what appears below a pointer at rest: the tooltip is that of the focus then.
      if (target === current) return;
      hide();
      current = target;
      if (target) timer = window.setTimeout(() => target.isConnected && show(target), DELAY_MS);
    };
    const focus = (event: FocusEvent): void => {
      hide();
      const target = withTooltip(event.target);
      if (target?.matches(":focus-visible")) show(target);
    };
    document.addEventListener("pointerover", over);
    document.addEventListener("pointerdown", hide);
    document.addEventListener("focusin", focus);
    document.addEventListener("focusout", hide);
    return () => {
      hide();
      document.removeEventListener("pointerover", over);
      document.removeEventListener("pointerdown", hide);
      document.removeEventListener("focusin", focus);
      document.removeEventListener("focusout", hide);
    };
  }, []);
  return tip === null || box === null ? null : (
    <box.TooltipBox key={tip.targetId} {...tip} onClose={() => dismiss.current()} />
  );
}

function withTooltip(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-tooltip]") : null;
}
