import { useMemo, useState } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Marked } from "./marked.tsx";
import { type StackLine, stackGroups, stackLines } from "./stack-trace.ts";
import css from "./stack-view.module.css";

/** A stack trace: frames of libraries are folded, and the first of the application is marked. */
export function StackView({ text }: { text: string }) {
  const groups = useMemo(() => stackGroups(stackLines(text)), [text]);
  return (
    <ol class={css.stack}>
      {groups.map((lines, index) => (
        <Group key={index} lines={lines} />
      ))}
    </ol>
  );
}

function Group({ lines }: { lines: readonly StackLine[] }) {
  const [isOpen, setOpen] = useState(lines.length === 1);
  const [first] = lines;
  if (first === undefined) return null;
  if (!isOpen) {
    return (
      <li class={css.library}>
        <button type="button" class={css.fold} aria-expanded={false} onClick={() => setOpen(true)}>
          … {lines.length} frames of libraries
        </button>
      </li>
    );
  }
  return (
    <>
      {lines.map((line, index) => (
        <li key={index} class={css[line.kind]} data-first={line.isFirst}>
          <Marked text={visible(line.text)} />
          {line.isFirst ? <span class="visually-hidden"> (first frame of the application)</span> : null}
        </li>
      ))}
    </>
  );
}
