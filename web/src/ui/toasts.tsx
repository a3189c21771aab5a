import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import css from "./toasts.module.css";

/** Milliseconds that a toast stays: enough to read two lines. */
const STAY_MS = 6000;
/** Like `STAY_MS`, for a toast with a link: enough to reach the link. */
const STAY_WITH_LINK_MS = 15_000;

interface Toast {
  id: number;
  /** Milliseconds of the page's clock. */
  at: number;
  text: string;
  kind: "good" | "error";
  link: ToastLink | undefined;
}

interface ToastLink {
  href: string;
  label: string;
}

const shown = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a toast, for outcomes that no part of the page shows. */
export function toast(text: string, kind: Toast["kind"] = "good", link?: ToastLink): void {
  setTimeout(show({ text, kind, link }), link ? STAY_WITH_LINK_MS : STAY_MS);
}

/** Shows an error until the returned function is called. */
export function lastingToast(text: string): () => void {
  return show({ text, kind: "error", link: undefined });
}

function show(toast: Omit<Toast, "id" | "at">): () => void {
  const id = ++lastId;
  shown.value = [...shown.value, { id, at: performance.now(), ...toast }];
  return () => {
    shown.value = shown.value.filter((each) => each.id !== id);
  };
}

/** Time of the reader's last press of a key or a button, milliseconds of the page's clock. */
let pressedAt = 0;
for (const kind of ["pointerdown", "keydown"]) {
  document.addEventListener(kind, (event) => (pressedAt = event.timeStamp), { capture: true, passive: true });
}

/**
 * The toasts, in the browser's top layer. Reopened for each toast, so that an open dialog does not cover it. A page to which the reader
 * goes has none of those before: they would cover what it shows. A page to which the action of a toast leads has it.
 */
export function Toasts() {
  const ref = useRef<HTMLDivElement>(null);
  const toasts = shown.value;
  const { path } = useLocation();
  useEffect(() => {
    shown.value = shown.value.filter(({ at }) => at > pressedAt);
  }, [path]);
  useEffect(() => {
    const layer = ref.current;
    if (layer?.matches(":popover-open")) layer.hidePopover();
    if (toasts.length > 0) layer?.showPopover();
  }, [toasts]);
  return (
    <div ref={ref} class={css.toasts} popover="manual" role="status" aria-live="polite">
      {toasts.map(({ id, text, kind, link }) => (
        <div key={id} class={`${css.toast} ${kind === "error" ? css.error : ""}`}>
          {text} {link ? <a href={link.href}>{link.label}</a> : null}
        </div>
      ))}
    </div>
  );
}
