import { Search } from "lucide";
import { useState } from "preact/hooks";
import { Icon } from "../../../ui/icon.tsx";
import { Failure } from "../../../ui/states.tsx";
import { short } from "../view/format.ts";
import { fieldGroups } from "./field-groups.ts";
import { type FieldActs, FieldItem } from "./field-item.tsx";
import css from "./fields-panel.module.css";
import { type CountRound, type SearchScope, useFields } from "./use-fields.ts";

interface FieldsPanelProps extends FieldActs {
  scope: SearchScope;
  /** The filter of the query, without pipes. */
  filter: string;
  round: CountRound;
  /** Whether the page shows a notice that the query failed: nothing is waited for, and a second notice says nothing new. */
  hasFailed: boolean;
}

/** The fields of what the query finds, with their most frequent values. */
export function FieldsPanel({ scope, filter, round, hasFailed, ...acts }: FieldsPanelProps) {
  const [wanted, setWanted] = useState("");
  const [open, setOpen] = useState<readonly string[]>(["level"]);
  const { data, isStale, failure, reload } = useFields(scope, filter, round);
  const isWaiting = failure === null && !hasFailed;
  const groups = data === null ? [] : fieldGroups(data, wanted);
  return (
    <div class={css.list} aria-busy={(isStale || data === null) && isWaiting} data-stale={isStale && isWaiting}>
      <h2 class="visually-hidden">Fields</h2>
      <label class={css.find}>
        <Icon shape={Search} size={14} />
        <input
          type="text"
          value={wanted}
          aria-label="Find a field"
          placeholder="Find a field"
          autocomplete="off"
          spellcheck={false}
          data-shortcut="fields"
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <kbd>f</kbd>
      </label>
      {/* The page's notice and its button are for all that failed. */}
      {failure === null || hasFailed ? null : <Failure failure={failure} onRetry={reload} />}
      {data === null && failure === null ? <p class={css.hint}>Counting …</p> : null}
      {groups.map(({ title, fields }, at) => (
        <section key={title} class={css.group} aria-label={title}>
          <div class={css.head}>
            <h3 class={css.title}>{title}</h3>
            {/* In a place of its own, so that nothing below moves. */}
            {at === 0 && isStale && isWaiting ? <p class={css.counting}>Counting …</p> : null}
          </div>
          <ul class={css.fields}>
            {fields.map((field) => (
              <FieldItem
                key={field.name}
                field={field}
                matched={data?.matched ?? 0}
                isOpen={open.includes(field.name)}
                onToggle={() =>
                  setOpen(
                    open.includes(field.name) ? open.filter((name) => name !== field.name) : [...open, field.name],
                  )
                }
                scope={scope}
                filter={filter}
                round={round}
                {...acts}
              />
            ))}
          </ul>
        </section>
      ))}
      {data !== null && groups.length === 0 ? (
        <p class={css.hint}>{wanted === "" ? "No fields" : "No such field"}</p>
      ) : null}
      {data === null || data.complete ? null : (
        <p class={css.hint}>Counts of the newest {short(data.matched)} entries.</p>
      )}
    </div>
  );
}
