import { useState } from "preact/hooks";
import type { LimitConfiguration } from "../../../../../src/limits/cascade.ts";
import { API_DEFAULT } from "../../../../../src/limits/state.ts";
import { fieldError, useAction } from "../../../lib/action.ts";
import type { RateLimits } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { toast } from "../../../ui/toasts.tsx";
import {
  configurationOf,
  type Draft,
  draftErrorsOf,
  draftOf,
  FIRST_DEFAULT,
  isChanged,
  isSame,
  newRule,
} from "./draft.ts";
import css from "./limits.module.css";
import { LimitFields, RuleRow } from "./rule-row.tsx";
import { limitInWords } from "./words.ts";

interface LimitEditorProps {
  path: string;
  /** The current configuration, as last loaded. */
  current: RateLimits;
  /** The configuration that the draft started from. */
  base: LimitConfiguration;
  draft: Draft;
  /** Id of the sentence that explains why nothing can be changed; undefined if changes are allowed. */
  describedBy: string | undefined;
  onDraft: (draft: Draft) => void;
  /** Called with the current configuration, which was loaded before a change. */
  onLoaded: (now: RateLimits) => void;
  onSaved: (saved: RateLimits) => void;
}

export function LimitEditor({ path, current, base, draft, describedBy, onDraft, onLoaded, onSaved }: LimitEditorProps) {
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isResetting, setResetting] = useState(false);
  /**
   * Loads the limits before a change, because the API has no versions of them.
   * @returns whether another tab or member has saved what this page has not shown; it shows it now, instead of the change
   */
  const hasUnseen = async (): Promise<boolean> => {
    const now = (await authorized<RateLimits>(path)).data;
    onLoaded(now);
    // What the draft started from has been seen, and has no notice that would explain why nothing was saved.
    return !isSame(current, now) && !isSame(base, now);
  };
  const saving = useAction(async () => {
    const found = draftErrorsOf(draft);
    setFaults(found);
    if (found.size > 0 || (await hasUnseen())) return;
    onSaved((await authorized<RateLimits>(path, { method: "PUT", body: configurationOf(draft) })).data);
    toast("Limits saved.");
  });
  const isLocked = describedBy !== undefined;
  const change = (next: Draft): void => {
    // Errors refer to rows by index, which may have changed.
    setFaults(new Map());
    saving.clear();
    onDraft(next);
  };
  const errorAt = (field: string): string | undefined =>
    faults.get(field) ?? numbered(fieldError(saving.failure, field));
  const isOther = !isSame(base, current);
  const hasChanges = isChanged(draft, base);
  const hasConfiguration = current.default !== null || current.rules.length > 0;
  return (
    <Card title="Configuration">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <fieldset class={css.group} disabled={isLocked}>
          <legend>Default (if no rule matches)</legend>
          <label class={css.choice}>
            <input
              type="radio"
              name="default"
              checked={draft.default === null}
              onChange={() => change({ ...draft, default: null })}
            />
            <span>Preset: {limitInWords(API_DEFAULT)}</span>
          </label>
          <label class={css.choice}>
            <input
              type="radio"
              name="default"
              checked={draft.default !== null}
              onChange={() => change({ ...draft, default: FIRST_DEFAULT })}
            />
            <span>Custom limit</span>
          </label>
          {draft.default ? (
            <div class={css.own}>
              <LimitFields
                value={draft.default}
                at="default"
                errorAt={errorAt}
                onChange={(limit) => change({ ...draft, default: limit })}
              />
            </div>
          ) : null}
        </fieldset>
        <fieldset class={css.group} disabled={isLocked}>
          <legend>Rules (counted separately)</legend>
          {draft.rules.length === 0 ? <p>No rules. The default applies to all requests.</p> : null}
          {draft.rules.map((rule, index) => (
            <RuleRow
              key={rule.id}
              rule={rule}
              number={index + 1}
              errorAt={(field) => errorAt(`rules.${index}.${field}`)}
              onChange={(changed) =>
                change({ ...draft, rules: draft.rules.map((each) => (each.id === rule.id ? changed : each)) })
              }
              onRemove={() => change({ ...draft, rules: draft.rules.filter(({ id }) => id !== rule.id) })}
            />
          ))}
          <Row>
            <Button onClick={() => change({ ...draft, rules: [...draft.rules, newRule()] })}>Add rule</Button>
          </Row>
        </fieldset>
        <Problem failure={saving.failure} fields={fieldsOf(draft)} />
        {isOther ? (
          <p role="status">
            Another member changed the limits. Saving overwrites those changes.{" "}
            <Button small onClick={() => onSaved(current)}>
              Load new limits
            </Button>
          </p>
        ) : null}
        {!isLocked && hasChanges ? <p role="status">Unsaved changes, kept in this tab.</p> : null}
        <Row>
          <Button
            type="submit"
            look="primary"
            busy={saving.busy}
            disabled={isLocked || !hasChanges}
            aria-describedby={describedBy}
          >
            Save limits
          </Button>
          <Button disabled={isLocked || !hasChanges} onClick={() => change(draftOf(base))}>
            Undo changes
          </Button>
          <Button
            look="danger"
            disabled={isLocked || !hasConfiguration}
            aria-describedby={describedBy}
            onClick={() => setResetting(true)}
          >
            Reset to preset
          </Button>
        </Row>
      </form>
      {isResetting ? (
        <Confirm
          title="Reset to preset?"
          action="Reset"
          onConfirm={async () => {
            if (await hasUnseen()) {
              setResetting(false);
              return;
            }
            onSaved((await authorized<RateLimits>(path, { method: "DELETE" })).data);
            setResetting(false);
            toast("Limits reset.");
          }}
          onClose={() => setResetting(false)}
        >
          <p>
            Removes the default and all rules of this workspace. The preset then applies to all requests:{" "}
            {limitInWords(API_DEFAULT)}.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}

/** All fields that show errors of the API. */
function fieldsOf(draft: Draft): string[] {
  const rules = draft.rules.flatMap((_, index) =>
    ["path", "method", "limit", "windowSeconds"].map((field) => `rules.${index}.${field}`),
  );
  return ["default.limit", "default.windowSeconds", ...rules];
}

/** Renumbers rules in a message: the API counts from 0, the page from 1. */
function numbered(message: string | undefined): string | undefined {
  return message?.replace(/rules\.(\d+)/gi, (_, index: string) => `Rule ${Number(index) + 1}`);
}
