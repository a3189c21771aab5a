import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";

interface NewBoardFieldsProps {
  name: string;
  onName: (name: string) => void;
  projectId: string | null;
  onProject: (id: string | null) => void;
  projects: readonly { id: string; name: string }[];
}

/** Name of a new board, and the project that its queries read. */
export function NewBoardFields({ name, onName, projectId, onProject, projects }: NewBoardFieldsProps) {
  return (
    <>
      <Field label="Name">
        {(props) => (
          <input
            {...props}
            value={name}
            maxLength={BOARD_LIMITS.name}
            autocomplete="off"
            onInput={({ currentTarget }) => onName(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Project">
        {(props) => (
          <Select
            {...props}
            value={projectId ?? ""}
            options={[
              { value: "", label: "All projects" },
              ...projects.map(({ id, name: label }) => ({ value: id, label })),
            ]}
            onChange={(id) => onProject(id || null)}
          />
        )}
      </Field>
    </>
  );
}
