import { visible } from "../../../lib/visible.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { Marked } from "./marked.tsx";

/** Loaded for the first text with colours. */
const COLOURED = lazyModule(() => import("./coloured.tsx"));

/** Whether a text has colours of a terminal. */
export function hasColours(text: string): boolean {
  return text.includes("\u001b[");
}

/** Untrusted text with the colours of a terminal as colours, and matches of the search marked. */
export function AnsiText({ text }: { text: string }) {
  return hasColours(text) ? <Coloured text={text} /> : <Marked text={text} />;
}

function Coloured({ text }: { text: string }) {
  const parts = useLazy(COLOURED, true);
  return parts === null ? <>{visible(text)}</> : <parts.Coloured text={text} />;
}
