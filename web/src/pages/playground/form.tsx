import { BUILT_IN_CATEGORIES } from "../../../../src/logs/entry.ts";
import { LEVELS } from "../../model/types.ts";
import { Field } from "../../ui/field.tsx";
import { type FormDraft, type FormErrors, typesOf } from "./draft.ts";
import css from "./playground.module.css";

/** Option value for a custom category. */
const OWN = "own";

interface FormProps {
  draft: FormDraft;
  errors: FormErrors;
  onChange: (draft: FormDraft) => void;
}

/** The form for one entry. */
export function EntryForm({ draft, errors, onChange }: FormProps) {
  const { level, category, type, message, data } = draft;
  const set = (patch: Partial<FormDraft>): void => onChange({ ...draft, ...patch });
  const types = typesOf(category);
  const isListed = types !== null || category === "custom";
  const choose = (name: string): void => {
    if (name === OWN) set({ category: "", type: "log" });
    else set({ category: name, type: typesOf(name)?.[0] ?? "log" });
  };
  return (
    <>
      <div class={css.fields}>
        <Field label="Level">
          {(props) => (
            <select
              {...props}
              value={level}
              onChange={(event) => set({ level: LEVELS.find((each) => each === event.currentTarget.value) ?? "info" })}
            >
              {LEVELS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Category">
          {(props) => (
            <select
              {...props}
              value={isListed ? category : OWN}
              onChange={(event) => choose(event.currentTarget.value)}
            >
              {[...BUILT_IN_CATEGORIES, "custom"].map((each) => (
                <option key={each}>{each}</option>
              ))}
              <option value={OWN}>Custom name</option>
            </select>
          )}
        </Field>
        {isListed ? null : (
          <Field label="Category name" error={errors.category}>
            {(props) => (
              <input
                {...props}
                value={category}
                spellcheck={false}
                onInput={(event) => set({ category: event.currentTarget.value })}
              />
            )}
          </Field>
        )}
        <Field label="Type" error={errors.type}>
          {(props) =>
            types ? (
              <select {...props} value={type} onChange={(event) => set({ type: event.currentTarget.value })}>
                {types.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            ) : (
              <input
                {...props}
                value={type}
                spellcheck={false}
                onInput={(event) => set({ type: event.currentTarget.value })}
              />
            )
          }
        </Field>
      </div>
      <Field label="Message" error={errors.message}>
        {(props) => (
          <input {...props} value={message} onInput={(event) => set({ message: event.currentTarget.value })} />
        )}
      </Field>
      <Field label="Data" hint="Optional JSON object." error={errors.data}>
        {(props) => (
          <textarea
            {...props}
            class={css.code}
            rows={4}
            spellcheck={false}
            value={data}
            onInput={(event) => set({ data: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  );
}
