import { BUILT_IN_CATEGORIES } from "../../../../src/logs/entry.ts";
import { LEVELS } from "../../model/types.ts";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { type FormDraft, type FormErrors, typesOf } from "./draft.ts";
import css from "./playground.module.css";

/** Option value for a custom category. */
const OWN = "own";

interface FormProps {
  draft: FormDraft;
  errors: FormErrors;
  onChange: (draft: FormDraft) => void;
}

function named<V extends string>(names: readonly V[]): { value: V; label: V }[] {
  return names.map((name) => ({ value: name, label: name }));
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
          {(props) => <Select {...props} value={level} options={named(LEVELS)} onChange={(level) => set({ level })} />}
        </Field>
        <Field label="Category">
          {(props) => (
            <Select
              {...props}
              value={isListed ? category : OWN}
              options={[...named([...BUILT_IN_CATEGORIES, "custom"]), { value: OWN, label: "Custom name" }]}
              onChange={choose}
            />
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
              <Select {...props} value={type} options={named(types)} onChange={(type) => set({ type })} />
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
