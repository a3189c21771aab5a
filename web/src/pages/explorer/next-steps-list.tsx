import { useLoad } from "../../lib/load.ts";
import { visible } from "../../lib/visible.ts";
import { ask, queryFor } from "../investigate/ask.ts";
import { asksOf, type NextStep } from "./next-steps.ts";
import css from "./nothing.module.css";
import { entries } from "./view/format.ts";
import type { Times } from "./view/range.ts";
import { type View, viewSearch, withQuery } from "./view/view.ts";

interface NextStepsProps {
  workspaceId: string;
  projectId: string | null;
  view: View;
  times: Times;
}

const WORDS: Readonly<Record<NextStep["kind"], string>> = {
  value: "Did you mean",
  drop: "Without",
  range: "Search",
};

/** Offers searches that find entries, with their numbers, in one request. A failure only hides them. */
export function NextSteps({ workspaceId, projectId, view, times }: NextStepsProps) {
  const asks = asksOf(view.query ?? "", times, Date.now());
  const key = JSON.stringify([workspaceId, projectId, view.query, times.from, times.to]);
  const { data } = useLoad(key, async (signal): Promise<NextStep[]> => {
    if (asks.length === 0) return [];
    const queries = asks.map(({ question: { query, ...bounds } }) => queryFor(query, projectId, bounds));
    const answers = await ask(workspaceId, queries, signal, { followsSearch: true });
    return asks.flatMap(({ read }, at) => {
      const answer = answers[at];
      return answer === undefined ? [] : read(answer);
    });
  });
  if (data === null || data.length === 0) return null;
  return (
    <ul class={css.steps} aria-label="Suggestions">
      {data.map((step) => (
        <li key={`${step.kind} ${step.text}`}>
          <span>{WORDS[step.kind]} </span>
          <a href={`${location.pathname}${viewSearch(viewOf(view, step))}`}>
            {step.kind === "range" ? step.text : <code>{visible(step.text)}</code>}
          </a>
          <span class={css.count}>
            {step.isExact ? "" : "at least "}
            {entries(step.count)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function viewOf(view: View, { query, range }: NextStep): View {
  return { ...withQuery(view, query), ...(range === undefined ? {} : { range }) };
}
