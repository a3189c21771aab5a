import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import type { Refused } from "./call.ts";
import type { RawResult } from "./draft.ts";
import css from "./playground.module.css";

const ENTRY = { level: "info", category: "cache", type: "miss", message: "Looked up brass compass" };
const OTHER = { level: "error", message: "Payment gateway timed out", data: { order: 9001, waitedMs: 5000 } };
const REFUSED = { level: "urgent", message: "This level does not exist" };

/** Texts that the example buttons insert. */
const EXAMPLES = [
  { name: "One entry", text: JSON.stringify(ENTRY, null, 2) },
  { name: "An array", text: JSON.stringify([ENTRY, OTHER], null, 2) },
  { name: "{logs}", text: JSON.stringify({ logs: [ENTRY, OTHER] }, null, 2) },
  { name: "NDJSON", text: [ENTRY, OTHER].map((entry) => JSON.stringify(entry)).join("\n") },
  { name: "One good, one bad", text: JSON.stringify([OTHER, REFUSED], null, 2) },
] as const;

export const FIRST_RAW = EXAMPLES[1].text;

const SHAPES = { entry: "One entry", array: "An array", logs: "{logs}", ndjson: "NDJSON" } as const;

interface RawProps {
  text: string;
  result: RawResult;
  /** The entries of this text that the service rejected. */
  refused: readonly Refused[];
  onChange: (text: string) => void;
}

/** A text editor for the request body. */
export function RawEditor({ text, result, refused, onChange }: RawProps) {
  return (
    <>
      <Row>
        <span class={css.quiet}>Examples:</span>
        {EXAMPLES.map(({ name, text: example }) => (
          <Button key={name} small onClick={() => onChange(example)}>
            {name}
          </Button>
        ))}
      </Row>
      <Field
        label="Entries as JSON"
        hint={result.ok ? `${SHAPES[result.outgoing.shape]}: ${counted(result.outgoing.entries.length)}` : undefined}
        error={result.ok ? undefined : result.error}
      >
        {(props) => (
          <textarea
            {...props}
            class={css.code}
            rows={12}
            spellcheck={false}
            value={text}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )}
      </Field>
      {refused.length > 0 ? (
        <EntryNotes title="Rejected by the service:" tone={css.bad} notes={refused} />
      ) : result.ok && result.warnings.length > 0 ? (
        <EntryNotes
          title="The service will reject these and store the rest:"
          tone={css.doubt}
          notes={result.warnings}
        />
      ) : null}
    </>
  );
}

interface Notes {
  title: string;
  tone: string | undefined;
  notes: readonly { index: number; message: string; code?: string }[];
}

function EntryNotes({ title, tone, notes }: Notes) {
  return (
    <div class={`${css.notes} ${tone ?? ""}`} role="alert">
      <p>{title}</p>
      <ul>
        {notes.map(({ index, message, code }) => (
          <li key={index}>
            Entry {index + 1}: {message} {code ? <code>{code}</code> : null}
          </li>
        ))}
      </ul>
    </div>
  );
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "entry" : "entries"}`;
}
