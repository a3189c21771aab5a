import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "./text-field.tsx";

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
      <TextField label="Name" value={name} maxLength={BOARD_LIMITS.name} onChange={onName} />
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
