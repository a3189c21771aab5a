import type { Hint } from "../../../../../src/query-language/hints.ts";
import { Button } from "../../../ui/button.tsx";
import { focusOn } from "../../../ui/shortcuts/shortcuts.ts";
import css from "./answer-view.module.css";
import { corrected } from "./corrected.ts";
import { Notes } from "./notes.tsx";

interface QueryHintsProps {
  hints: readonly Hint[];
  onQuery: (query: string) => void;
}

/** What the query of a list probably does not do as intended, with a button that corrects it where there is one likely meaning. */
export function QueryHints({ hints, onQuery }: QueryHintsProps) {
  return (
    <div class={css.hints}>
      {hints.map(({ message, correction }) => (
        <div key={message} class={css.hint}>
          <Notes notes={[message]} />
          {correction === undefined ? null : (
            <Button small onClick={() => correct(correction, onQuery)}>
              Use {correction}
            </Button>
          )}
        </div>
      ))}
    </div>
  );
}

/** Corrects what is written, which may not have been searched for yet. The box says itself what else is wrong with it. */
function correct(correction: string, onQuery: (query: string) => void): void {
  const box = document.querySelector("[data-shortcut=search]");
  if (!(box instanceof HTMLTextAreaElement)) return;
  const better = corrected(box.value, correction);
  if (better === null) box.form?.requestSubmit();
  else onQuery(better);
  // The button goes with its hint.
  focusOn("search");
}
