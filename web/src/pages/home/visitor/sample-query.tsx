import { useState } from "preact/hooks";
import { request } from "../../../api/request.ts";
import { useAction } from "../../../lib/action.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { ScrollBox } from "../../../ui/scroll-box.tsx";
import type { Sandbox } from "../../playground/sandbox.ts";
import type { TableAnswer } from "./preview.ts";
import css from "./visitor.module.css";

const QUESTIONS = [
  { title: "What fails most", query: "level:>=error | top 5 by category, type" },
  { title: "Patterns", query: "level:>=warn | patterns | limit 5" },
] as const;

const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A query over the sandbox with its answer, and others that run on a click. */
export function SampleQuery({ query, table }: { query: string; table: TableAnswer }) {
  const questions = [{ title: "Slow routes", query }, ...QUESTIONS];
  const [shown, setShown] = useState({ query, table });
  const running = useAction(async (text: string) => {
    // The key changes with each reset.
    const { apiKey } = (await request<Sandbox>("/sandbox")).data;
    const { data } = await request<TableAnswer>("/logger/search", { token: apiKey, body: { query: text, limit: 5 } });
    setShown({ query: text, table: data });
  });
  return (
    <section class={css.query} aria-label="A query">
      <div class={css.questions}>
        {questions.map((each) => (
          <Button
            key={each.title}
            small
            look={each.query === shown.query ? "plain" : "quiet"}
            aria-pressed={each.query === shown.query}
            disabled={running.busy}
            onClick={() => (each.query === query ? setShown({ query, table }) : running.run(each.query))}
          >
            {each.title}
          </Button>
        ))}
        <a class={buttonClass("quiet", true)} href={`/playground?q=${encodeURIComponent(shown.query)}`}>
          Open in the playground
        </a>
      </div>
      <p class={css.text}>
        <code>{shown.query}</code>
      </p>
      <ScrollBox label="Answer">
        <table>
          <thead>
            <tr>
              {shown.table.columns.map(({ name, type }) => (
                <th key={name} scope="col" data-number={type === "number"}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.table.rows.map((row, at) => (
              <tr key={at}>
                {shown.table.columns.map(({ name, type }, column) => (
                  <td key={name} data-number={type === "number"}>
                    {cellOf(row[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
      <p class={css.quiet} role="status">
        {`${NUMBER.format(shown.table.scanned)} entries in ${NUMBER.format(shown.table.tookMs)} ms`}
      </p>
      <Problem failure={running.failure} />
    </section>
  );
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return NUMBER.format(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
