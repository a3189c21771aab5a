import type { RefObject } from "preact";
import type { ExplainedError } from "../../../../../src/query-language/meant.ts";
import type { Analysis } from "../../../../../src/query-language/parse.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { LANGUAGE } from "../view/load-language.ts";
import css from "./query-error.module.css";
import { acceptedNames } from "./suggestions.ts";

/** What errors may mean, loaded with the first of them. */
const EXPLAINED = lazyModule(async () => (await LANGUAGE.load()).loadExplained());

/** Returns what is wrong with a text; `null` if nothing is, or while it is still being written. */
export function useQueryError(text: string, result: Analysis["result"], isWritten: boolean): ExplainedError | null {
  const wrong = isWritten && !result.ok ? result.error : null;
  const explaining = useLazy(EXPLAINED, wrong !== null);
  return wrong && explaining ? explaining.explained(text, wrong, Date.now()) : wrong;
}

interface QueryErrorTextProps {
  id: string;
  /** The text that is wrong. */
  text: string;
  error: ExplainedError;
  /** Points at the place of the error in the text above; the box moves it. */
  caret: RefObject<HTMLSpanElement | null>;
  onCorrect: (query: string) => void;
}

/** Says what is wrong with the text of the box above, with a correction if there is one. */
export function QueryErrorText({ id, text, error, caret, onCorrect }: QueryErrorTextProps) {
  const { message, suggestion, corrected } = error;
  const names = acceptedNames(text, error);
  const accepted = names.length === 0 ? null : ` Accepted: ${names.join(", ")}.`;
  return (
    <p class={css.error} id={id} role="alert">
      <span aria-hidden="true" class={css.caret} ref={caret}>
        ^
      </span>
      <span>
        {message}.{suggestion === undefined ? accepted : " Did you mean "}
        {corrected === undefined ? (
          suggestion
        ) : (
          <button
            type="button"
            class={css.correction}
            data-tooltip="Write it into the query"
            data-shortcut-key="Alt Enter"
            onClick={() => onCorrect(corrected)}
          >
            {suggestion}
          </button>
        )}
        {suggestion === undefined ? null : "?"}
      </span>
    </p>
  );
}
