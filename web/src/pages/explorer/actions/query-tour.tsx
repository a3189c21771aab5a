import document from "../../../../../docs/query-language.md?raw";
import { type View, viewSearch, withQuery } from "../view/view.ts";
import css from "./query-tour.module.css";
import { examplesOf, type Inline, rulesOf } from "./tour-text.ts";

const EXAMPLES = examplesOf(document);
const RULES = rulesOf(document);

interface QueryTourProps {
  view: View;
  /** Path of the page. */
  path: string;
  onClose: () => void;
}

/** The query language by examples, each of which can be run, and by its filters. */
export function QueryTour({ view, path, onClose }: QueryTourProps) {
  return (
    <>
      <ol class={css.examples}>
        {EXAMPLES.map(({ text, queries }) => (
          <li key={queries[0]}>
            <p>
              <Text parts={text} />
            </p>
            {queries.map((query) => (
              <a key={query} class={css.query} href={`${path}${viewSearch(withQuery(view, query))}`} onClick={onClose}>
                <code>{query}</code>
              </a>
            ))}
          </li>
        ))}
      </ol>
      <h3>Filters</h3>
      <dl class={css.rules}>
        {RULES.map(([write, finds], at) => (
          <div key={at}>
            <dt>
              <Text parts={write} />
            </dt>
            <dd>
              <Text parts={finds} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Text({ parts }: { parts: readonly Inline[] }) {
  return (
    <>
      {parts.map(({ kind, text }, at) =>
        kind === "code" ? <code key={at}>{text}</code> : kind === "strong" ? <b key={at}>{text}</b> : text,
      )}
    </>
  );
}
