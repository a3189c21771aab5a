import { useState } from "preact/hooks";
import type { LogEntry } from "../../model/types.ts";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import type { CallAnswer } from "./call.ts";
import css from "./playground.module.css";

/** Entries found by a search (newest first), or the neighbours of one. */
export interface Found {
  title: string;
  entries: readonly LogEntry[];
  /** The search of the query, whose matches are marked; empty without one. */
  search: string;
  /** Cursor of the next page, or `null`. */
  cursor: string | null;
}

const EXAMPLES = [
  { name: "Errors", filters: { minLevel: "error" } },
  { name: "Slow queries", filters: { category: "database", type: "slow-query" } },
  { name: "A text", filters: { search: "gateway" } },
  { name: "A data field", filters: { data: { status: { gte: 500 } } } },
] as const;

export const FIRST_QUERY = queryText({ minLevel: "error" });

export function queryText(filters: object): string {
  return JSON.stringify({ filters, pagination: { limit: 50 } }, null, 2);
}

interface SearchProps {
  text: string;
  busy: boolean;
  answer: CallAnswer | null;
  curl: string | null;
  onChange: (text: string) => void;
  onRun: () => void;
}

/** A query as the API accepts it. */
export function Search({ text, busy, answer, curl, onChange, onRun }: SearchProps) {
  const [isOpen, setOpen] = useState(true);
  const error = queryError(text);
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (error === undefined) onRun();
      }}
    >
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class={css.summary}>
          Query: <code>POST /logger/query</code>
        </summary>
        <div class="stack">
          <Row>
            <span class={css.quiet}>Examples:</span>
            {EXAMPLES.map(({ name, filters }) => (
              <Button key={name} small onClick={() => onChange(queryText(filters))}>
                {name}
              </Button>
            ))}
          </Row>
          <Field label="Query" error={error}>
            {(props) => (
              <textarea
                {...props}
                class={css.code}
                rows={8}
                spellcheck={false}
                value={text}
                onInput={(event) => onChange(event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
      </details>
      <Row>
        <Button type="submit" look="primary" busy={busy} disabled={error !== undefined}>
          Search (1 read)
        </Button>
        {curl === null ? null : <Copy text={curl} label="Copy as curl" />}
        {answer ? <span class={css.quiet}>Status {answer.status}</span> : null}
      </Row>
    </form>
  );
}

function queryError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `Invalid JSON. ${error.message}` : "Invalid JSON.";
  }
}
