import { useState } from "preact/hooks";
import type { ApiFailure, LimitState } from "../../api/failure.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { BudgetNotice, useShortage } from "./budget-notice.tsx";
import type { Refused } from "./call.ts";
import type { ShopAction } from "./code.ts";
import type { FormDraft, FormResult, Outgoing, RawResult } from "./draft.ts";
import { EntryForm } from "./form.tsx";
import css from "./playground.module.css";
import { RawEditor } from "./raw.tsx";
import { Shop } from "./shop.tsx";

export type Way = "form" | "json" | "app";

const WAYS = [
  { name: "form", title: "Form" },
  { name: "json", title: "JSON" },
  { name: "app", title: "Application" },
] as const;

const SHORTAGE = "entries-shortage";

/** The state of the composer. */
export interface Draft {
  way: Way;
  form: FormDraft;
  raw: string;
  idempotencyKey: string;
  action: ShopAction | null;
}

interface ComposerProps {
  draft: Draft;
  form: FormResult;
  raw: RawResult;
  refused: readonly Refused[];
  /** Remaining entries of this hour; `null` until known. */
  budget: LimitState | null;
  busy: boolean;
  failure: ApiFailure | null;
  onChange: (patch: Partial<Draft>) => void;
  onSend: (outgoing: Outgoing) => void;
  onDelivered: () => void;
  /** Whether the box around it does not name it. */
  hasTitle: boolean;
}

/** Composes entries in three ways. */
export function Composer(props: ComposerProps) {
  const { draft, form, raw, refused, budget, busy, failure, onChange, onSend, onDelivered, hasTitle } = props;
  const [isTried, setTried] = useState(false);
  const { way } = draft;
  const result = way === "form" ? form : raw;
  const count = result.ok ? result.outgoing.entries.length : 0;
  const shortage = useShortage(budget, count);
  return (
    <Card {...(hasTitle ? { title: "Send entries" } : {})}>
      <BudgetNotice state={budget} what="entries" />
      <Tabs label="How to send" tabs={WAYS} chosen={way} onChoose={(name) => onChange({ way: name })}>
        {way === "app" ? (
          <Shop last={draft.action} onAction={(action) => onChange({ action })} onDelivered={onDelivered} />
        ) : (
          <form
            class="stack"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              setTried(true);
              if (result.ok && shortage === null) onSend(result.outgoing);
            }}
          >
            {way === "form" ? (
              <EntryForm
                draft={draft.form}
                errors={form.ok ? {} : visible(form.errors, isTried)}
                onChange={(next) => onChange({ form: next })}
              />
            ) : (
              <RawEditor text={draft.raw} result={raw} refused={refused} onChange={(text) => onChange({ raw: text })} />
            )}
            <Field
              label="Idempotency-Key"
              hint="Optional. Repeated requests with the same key are stored once."
              error={keyError(draft.idempotencyKey)}
            >
              {(field) => (
                <input
                  {...field}
                  value={draft.idempotencyKey}
                  spellcheck={false}
                  autocomplete="off"
                  onInput={(event) => onChange({ idempotencyKey: event.currentTarget.value })}
                />
              )}
            </Field>
            <Row>
              <Button
                type="submit"
                look="primary"
                busy={busy}
                disabled={!result.ok || shortage !== null || keyError(draft.idempotencyKey) !== undefined}
                aria-describedby={shortage === null ? undefined : SHORTAGE}
              >
                Send {count > 1 ? `${count} entries` : "entry"}
              </Button>
              {shortage === null ? null : (
                <span class={css.quiet} id={SHORTAGE}>
                  {shortage}
                </span>
              )}
            </Row>
            {failure ? <Failure failure={failure} /> : null}
          </form>
        )}
      </Tabs>
    </Card>
  );
}

/** Hides the error of an empty message until the user tries to send. */
function visible<E extends object>(errors: E, isTried: boolean): E {
  if (isTried || !("message" in errors)) return errors;
  const { message: _later, ...shown } = errors;
  // SAFETY: every member of the errors is optional.
  return shown as E;
}

function keyError(key: string): string | undefined {
  return /^[\x20-\x7e]{0,128}$/.test(key) ? undefined : "At most 128 printable ASCII characters.";
}
