import { Button } from "../../../ui/button.tsx";
import { focusOn } from "../../../ui/shortcuts/shortcuts.ts";
import css from "./answer-view.module.css";
import { corrected } from "./corrected.ts";
import { Notes } from "./notes.tsx";

interface QueryHintsProps {
  hints: readonly string[];
  query: string;
  onQuery: (query: string) => void;
}

/** What the query of a list probably does not do as intended, with a button that corrects it where there is one likely meaning. */
export function QueryHints({ hints, query, onQuery }: QueryHintsProps) {
  return (
    <div class={css.hints}>
      {hints.map((hint) => {
        const better = corrected(query, hint);
        return (
          <div key={hint} class={css.hint}>
            <Notes notes={[hint]} />
            {better === null ? null : (
              <Button
                small
                onClick={() => {
                  onQuery(better.query);
                  // The button goes with its hint.
                  focusOn("search");
                }}
              >
                Use {better.use}
              </Button>
            )}
          </div>
        );
      })}
    </div>
  );
}
