import { signal } from "@preact/signals";
import css from "./toasts.module.css";

/** Milliseconds that a message stays: enough to read two lines. */
const STAY_MS = 6000;

interface Toast {
  id: number;
  text: string;
  kind: "good" | "error";
}

const shown = signal<readonly Toast[]>([]);
let lastId = 0;

/** Says that something was done, or could not be, where no place on the page would say it. */
export function toast(text: string, kind: Toast["kind"] = "good"): void {
  const id = ++lastId;
  shown.value = [...shown.value, { id, text, kind }];
  setTimeout(() => {
    shown.value = shown.value.filter((each) => each.id !== id);
  }, STAY_MS);
}

export function Toasts() {
  return (
    <div class={css.toasts} role="status" aria-live="polite">
      {shown.value.map(({ id, text, kind }) => (
        <div key={id} class={`${css.toast} ${kind === "error" ? css.error : ""}`}>
          {text}
        </div>
      ))}
    </div>
  );
}
