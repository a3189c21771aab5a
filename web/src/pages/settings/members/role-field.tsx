import { ROLES, type Role } from "../../../model/types.ts";
import { Field } from "../../../ui/field.tsx";

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
        <select
          {...props}
          value={role}
          disabled={disabled}
          onChange={(event) => {
            const chosen = ROLES.find((each) => each === event.currentTarget.value);
            if (chosen) onChange(chosen);
          }}
        >
          {offered.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
