import { useRef } from "preact/hooks";
import css from "./over-time.module.css";
import { keysText, type Selection, spanOf } from "./selection.ts";

interface BrushProps {
  /** Accessible name. */
  label: string;
  /** Start of the first span, epoch milliseconds. */
  from: number;
  binMs: number;
  spans: number;
  /** `undefined`: spans are only pointed at. */
  selection: Selection | null | undefined;
  /** Says what is selected. */
  valueText: string;
  zoomsOut: boolean;
  onHover: (at: number | null) => void;
  /** `null`: the pointer was let go. */
  onDrag: (selection: Selection | null) => void;
  onBrush: (selection: Selection) => void;
  onPick: (at: number) => void;
  onKeyDown: (event: KeyboardEvent) => void;
  onFocus: (hasFocus: boolean) => void;
}

/** Least pixels of pointer movement that count as a brush instead of a click. */
const BRUSH_MIN = 4;

/** The area over a drawing in which spans of time are pointed at, and selected by dragging or by keys. */
export function Brush({
  label,
  from,
  binMs,
  spans,
  selection,
  valueText,
  zoomsOut,
  onHover,
  onDrag,
  ...acts
}: BrushProps) {
  const { onBrush, onPick, onKeyDown, onFocus } = acts;
  // A time, because a refresh during a drag moves the spans.
  const pressed = useRef<{ x: number; anchorMs: number; isDrag: boolean } | null>(null);
  const end = (): void => {
    pressed.current = null;
    onDrag(null);
  };
  const point = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const at = spanAt(event, spans);
    onHover(at);
    const press = pressed.current;
    if (press === null) return;
    press.isDrag ||= Math.abs(event.clientX - press.x) >= BRUSH_MIN;
    if (press.isDrag) onDrag({ anchor: spanOf(press.anchorMs, from, binMs, spans), at });
  };
  if (selection === undefined)
    return <div class={css.brush} onPointerMove={point} onPointerLeave={() => onHover(null)} />;
  return (
    <div
      class={css.brush}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-description={keysText("span of time", zoomsOut)}
      aria-valuemin={1}
      aria-valuemax={spans}
      aria-valuenow={(selection?.at ?? spans - 1) + 1}
      aria-valuetext={valueText}
      onKeyDown={(event) => {
        if (event.key === "Escape" && pressed.current !== null) end();
        else onKeyDown(event);
      }}
      onFocus={() => onFocus(true)}
      onBlur={() => onFocus(false)}
      onPointerMove={point}
      onPointerLeave={() => onHover(null)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const anchorMs = from + spanAt(event, spans) * binMs;
        pressed.current = { x: event.clientX, anchorMs, isDrag: false };
      }}
      onPointerUp={(event) => {
        const press = pressed.current;
        if (press === null) return;
        end();
        const at = spanAt(event, spans);
        if (press.isDrag) onBrush({ anchor: spanOf(press.anchorMs, from, binMs, spans), at });
        else onPick(at);
      }}
      onPointerCancel={end}
    />
  );
}

function spanAt({ currentTarget, clientX }: PointerEvent & { currentTarget: HTMLElement }, spans: number): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(spans - 1, Math.floor(((clientX - left) / width) * spans)));
}
