import { useMemo, useRef } from "preact/hooks";
import type { RulesProblem } from "../../../../../sdk/src/cli/alerts/rules-file.ts";
import { sentence } from "../../../lib/action.ts";
import { visible } from "../../../lib/visible.ts";
import css from "./file.module.css";

/** Lines of an empty editor. */
const LEAST_LINES = 14;
/** Lines above one that is shown. */
const ABOVE = 3;
/** Lines that have a number, one element each. */
const NUMBERED = 10_000;
/** Problems that are listed. */
const LISTED = 20;

interface RulesEditorProps {
  text: string;
  onText: (text: string) => void;
  /** Called with a file that is dropped. */
  onFile: (file: File) => void;
  problems: readonly RulesProblem[];
}

/** The text of a file of rules with the numbers of its lines. Each problem leads to its place. */
export function RulesEditor({ text, onText, onFile, problems }: RulesEditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const starts = useMemo(() => [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)], [text]);
  const lines = Math.max(LEAST_LINES, starts.length);
  const wrong = new Set(problems.flatMap(({ at }) => at?.line ?? []));
  const show = ({ line, column }: { line: number; column: number }): void => {
    const start = (starts[line - 1] ?? 0) + column - 1;
    area.current?.focus({ preventScroll: true });
    area.current?.setSelectionRange(start, Math.max(start, (starts[line] ?? text.length + 1) - 1));
    const height = (area.current?.scrollHeight ?? 0) / lines;
    box.current?.scrollTo({ top: (line - 1 - ABOVE) * height });
  };
  return (
    <div class={css.file}>
      <div ref={box} class={css.editor}>
        <div class={css.numbers} aria-hidden="true">
          {Array.from({ length: Math.min(lines, NUMBERED) }, (_, at) => (
            <span key={at} data-wrong={wrong.has(at + 1)}>
              {at + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={area}
          aria-label="Rules"
          aria-invalid={problems.length > 0}
          aria-describedby={problems.length > 0 ? "rules-problems" : undefined}
          rows={lines}
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            const file = event.dataTransfer?.files[0];
            if (file === undefined) return;
            event.preventDefault();
            onFile(file);
          }}
        />
      </div>
      {problems.length === 0 ? null : (
        <div id="rules-problems" role="alert">
          <ul class={css.problems}>
            {problems.slice(0, LISTED).map(({ at, message }, index) => (
              <li key={index}>
                {at === null ? null : (
                  <button type="button" class={css.place} onClick={() => show(at)}>
                    Line {at.line}, column {at.column}
                  </button>
                )}{" "}
                {visible(sentence(message))}
              </li>
            ))}
            {problems.length > LISTED ? <li>{problems.length - LISTED} more</li> : null}
          </ul>
        </div>
      )}
    </div>
  );
}
