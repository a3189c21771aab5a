import { useEffect, useRef, useState } from "preact/hooks";
import { SYSTEM } from "../../../../../src/workspace/audit-actions.ts";
import { useLoad } from "../../../lib/load.ts";
import type { Member } from "../../../model/types.ts";
import { allOf } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";
import { useLatest } from "../../../ui/use-latest.ts";
import css from "./audit.module.css";
import { CHOICES } from "./words.ts";

/** The audit filters. An empty text does not filter. */
export interface AuditFilters {
  actor: string;
  action: string;
  target: string;
  /** Words in names, addresses and actions. */
  search: string;
}

const TARGET = /^(usr|key|inv|proj|ws|fam|view|board|dest|dlv|alert|grant)_[0-9A-Za-z]{12}$/;

export function isTargetId(text: string): boolean {
  return TARGET.test(text);
}

/** Milliseconds without a change before the search is asked. */
const PAUSE_MS = 300;

interface FiltersProps {
  workspaceId: string;
  wanted: AuditFilters;
  onWanted: (wanted: AuditFilters) => void;
}

export function Filters({ workspaceId, wanted, onWanted }: FiltersProps) {
  const members = useLoad(workspaceId, (signal) =>
    allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal),
  );
  const [target, setTarget] = useState(wanted.target);
  const [search, setSearch] = useState(wanted.search);
  // A filter may be chosen between a key and the search.
  const find = useLatest((text: string) => onWanted({ ...wanted, search: text.trim() }));
  /** 0: no search waits. */
  const timer = useRef(0);
  const stop = (): void => {
    clearTimeout(timer.current);
    timer.current = 0;
  };
  useEffect(() => stop, []);
  const [isWrong, setIsWrong] = useState(false);
  // Links change the filters, too.
  useEffect(() => {
    setTarget(wanted.target);
    setIsWrong(false);
  }, [wanted.target]);
  useEffect(() => {
    // Text that is typed now, and a space after the last word, stay.
    if (timer.current === 0) setSearch((typed) => (typed.trim() === wanted.search ? typed : wanted.search));
  }, [wanted.search]);
  const apply = (): void => {
    const id = target.trim();
    const isRight = id === "" || isTargetId(id);
    setIsWrong(!isRight);
    // A search that was typed just before is found without the target.
    if (!isRight) return;
    stop();
    onWanted({ ...wanted, target: id, search: search.trim() });
  };
  const type = (text: string): void => {
    setSearch(text);
    stop();
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      find(text);
    }, PAUSE_MS);
  };
  return (
    <form
      class={css.filters}
      aria-label="Audit filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <Field label="Search">
        {(props) => (
          <input
            {...props}
            type="search"
            value={search}
            maxLength={200}
            placeholder="Name, address, action"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => type(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Actor">
        {(props) => (
          <Select
            {...props}
            value={wanted.actor}
            options={[
              { value: "", label: "Any actor" },
              ...(members.data ?? []).map(({ userId, email }) => ({ value: userId, label: email ?? userId })),
              { value: SYSTEM, label: "System" },
            ]}
            onChange={(actor) => onWanted({ ...wanted, actor })}
          />
        )}
      </Field>
      <Field label="Action">
        {(props) => (
          <Select
            {...props}
            value={wanted.action}
            options={[{ value: "", label: "Any action" }, ...CHOICES]}
            onChange={(action) => onWanted({ ...wanted, action })}
          />
        )}
      </Field>
      <Field label="Target ID" error={isWrong ? "Enter an ID such as key_… with 12 letters or digits." : undefined}>
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
