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
import { configurationOf, type Draft, draftOf, FIRST_DEFAULT, faultsOf, isChanged, isSame, newRule } from "./draft.ts";
import css from "./limits.module.css";
import { LimitFields, RuleRow } from "./rule-row.tsx";
import { limitInWords } from "./words.ts";

interface LimitEditorProps {
  path: string;
  /** What is in force, as last heard. */
  current: RateLimits;
  /** What the draft was made from. */
  base: LimitConfiguration;
  draft: Draft;
  /** Id of the sentence that says why nothing can be changed here; undefined: it can. */
  describedBy: string | undefined;
  onDraft: (draft: Draft) => void;
  onSaved: (saved: RateLimits) => void;
}

export function LimitEditor({ path, current, base, draft, describedBy, onDraft, onSaved }: LimitEditorProps) {
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isResetting, setResetting] = useState(false);
  const saving = useAction(async () => {
    const found = faultsOf(draft);
    setFaults(found);
    if (found.size > 0) return;
    onSaved((await authorized<RateLimits>(path, { method: "PUT", body: configurationOf(draft) })).data);
    toast("Saved. The next request falls under it.");
  });
  const isLocked = describedBy !== undefined;
  const change = (next: Draft): void => {
    // What was refused names rows by their number, which may not be theirs any more.
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
    <Card title="What is set">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <fieldset class={css.group} disabled={isLocked}>
          <legend>Default: what no rule matches</legend>
          <label class={css.choice}>
            <input
              type="radio"
              name="default"
              checked={draft.default === null}
              onChange={() => change({ ...draft, default: null })}
            />
            <span>The preset: {limitInWords(API_DEFAULT)}</span>
          </label>
          <label class={css.choice}>
            <input
              type="radio"
              name="default"
              checked={draft.default !== null}
              onChange={() => change({ ...draft, default: FIRST_DEFAULT })}
            />
            <span>Another limit</span>
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
          <legend>Rules: each counts by itself</legend>
          {draft.rules.length === 0 ? <p>No rule. Everything falls under the default.</p> : null}
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
            <Button onClick={() => change({ ...draft, rules: [...draft.rules, newRule()] })}>Add a rule</Button>
          </Row>
        </fieldset>
        <Problem failure={saving.failure} fields={fieldsOf(draft)} />
        {isOther ? (
          <p role="status">
            Somebody has changed the limits meanwhile. Saving replaces what they set.{" "}
            <Button small onClick={() => onSaved(current)}>
              Show theirs
            </Button>
          </p>
        ) : null}
        {!isLocked && hasChanges ? (
          <p role="status">Not saved yet. This tab keeps the changes until you save or undo them.</p>
        ) : null}
        <Row>
          <Button
            type="submit"
            look="primary"
            busy={saving.busy}
            disabled={isLocked || !hasChanges}
            aria-describedby={describedBy}
          >
            Save the limits
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
            Reset to the preset
          </Button>
        </Row>
      </form>
      {isResetting ? (
        <Confirm
          title="Reset to the preset?"
          action="Reset"
          onConfirm={async () => {
            onSaved((await authorized<RateLimits>(path, { method: "DELETE" })).data);
            setResetting(false);
            toast("The preset applies to everything again.");
          }}
          onClose={() => setResetting(false)}
        >
          <p>
            The default and all rules of this workspace go. From the next request on everything falls under the preset:{" "}
            {limitInWords(API_DEFAULT)}.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}

/** Every field that shows what the API says about it. */
function fieldsOf(draft: Draft): string[] {
  const rules = draft.rules.flatMap((_, index) =>
    ["path", "method", "limit", "windowSeconds"].map((field) => `rules.${index}.${field}`),
  );
  return ["default.limit", "default.windowSeconds", ...rules];
}

/** The API counts rules from 0, the page from 1. */
function numbered(message: string | undefined): string | undefined {
  return message?.replace(/rules\.(\d+)/gi, (_, index: string) => `Rule ${Number(index) + 1}`);
}
