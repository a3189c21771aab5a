import { useState } from "preact/hooks";
import { SYSTEM } from "../../../../../src/workspace/audit-actions.ts";
import { useLoad } from "../../../lib/load.ts";
import type { Member } from "../../../model/types.ts";
import { allOf } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import css from "./audit.module.css";
import { CHOICES } from "./words.ts";

/** What is to be shown; an empty text leaves a filter out. */
export interface Wanted {
  actor: string;
  action: string;
  target: string;
}

export const EVERYTHING: Wanted = { actor: "", action: "", target: "" };

const TARGET = /^(usr|key|inv|proj|ws|fam)_[0-9A-Za-z]{12}$/;

interface FiltersProps {
  workspaceId: string;
  wanted: Wanted;
  onWanted: (wanted: Wanted) => void;
}

export function Filters({ workspaceId, wanted, onWanted }: FiltersProps) {
  const members = useLoad(workspaceId, (signal) =>
    allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal),
  );
  const [target, setTarget] = useState(wanted.target);
  const [isWrong, setIsWrong] = useState(false);
  const apply = (): void => {
    const id = target.trim();
    setIsWrong(id !== "" && !TARGET.test(id));
    if (id === "" || TARGET.test(id)) onWanted({ ...wanted, target: id });
  };
  return (
    <form
      class={css.filters}
      aria-label="Filter the audit"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <Field label="Who">
        {(props) => (
          <select
            {...props}
            value={wanted.actor}
            onChange={(event) => onWanted({ ...wanted, actor: event.currentTarget.value })}
          >
            <option value="">Everyone</option>
            {(members.data ?? []).map(({ userId, email }) => (
              <option key={userId} value={userId}>
                {email ?? userId}
              </option>
            ))}
            <option value={SYSTEM}>The service</option>
          </select>
        )}
      </Field>
      <Field label="What">
        {(props) => (
          <select
            {...props}
            value={wanted.action}
            onChange={(event) => onWanted({ ...wanted, action: event.currentTarget.value })}
          >
            <option value="">Everything</option>
            {CHOICES.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Id of the target"
        error={isWrong ? "An id looks like key_… or usr_… and 12 letters or digits." : undefined}
      >
        {(props) => (
          <input
            {...props}
            value={target}
            placeholder="key_…"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => setTarget(event.currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit">Filter</Button>
    </form>
  );
}
