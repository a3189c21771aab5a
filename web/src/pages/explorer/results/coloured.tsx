import { useMemo } from "preact/hooks";
import { ansiParts } from "./ansi.ts";
import css from "./coloured.module.css";
import { Marked } from "./marked.tsx";

/** A text whose control sequences are looks. */
export function Coloured({ text }: { text: string }) {
  const parts = useMemo(() => ansiParts(text), [text]);
  return (
    <>
      {parts.map(({ text, colour, isBold, isFaint, isUnderlined }, index) => (
        <span
          key={index}
          class={[
            colour === null ? "" : css[colour],
            isBold ? css.bold : "",
            isFaint ? css.faint : "",
            isUnderlined ? css.underlined : "",
          ].join(" ")}
        >
          <Marked text={text} />
        </span>
      ))}
    </>
  );
}
