import type { Role } from "../../../model/types.ts";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";

const SUMMARY: Record<Role, string> = {
  viewer: "Reads logs and settings.",
  member: "Also creates, renames and deletes projects.",
  admin: "Also manages API keys, limits, members, name and retention.",
  owner: "Also manages owners and can delete the workspace.",
};

interface RoleFieldProps {
  role: Role;
  offered: readonly Role[];
  disabled?: boolean;
  onChange: (role: Role) => void;
}

export function RoleField({ role, offered, disabled = false, onChange }: RoleFieldProps) {
  return (
    <Field label="Role" hint={SUMMARY[role]}>
      {(props) => (
        <Select
          {...props}
          value={role}
          disabled={disabled}
          options={offered.map((each) => ({ value: each, label: each }))}
          onChange={onChange}
        />
      )}
    </Field>
  );
}
