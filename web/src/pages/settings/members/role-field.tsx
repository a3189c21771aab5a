import type { Role } from "../../../model/types.ts";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";

const SUMMARY: Record<Role, string> = {
  viewer: "Reads logs, boards, alerts and settings, and changes nothing.",
  member: "Also changes boards, views, alerts and projects.",
  admin: "Also manages API keys, destinations, limits, members, name and retention.",
  owner: "Also manages owners and can delete the workspace.",
};

/** What a role may do, at the end of its option. */
const ADDS: Record<Role, string> = {
  viewer: "reads logs, changes nothing",
  member: "viewer + boards, alerts, projects",
  admin: "member + keys, limits, members",
  owner: "admin + owners, deletion",
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
          options={offered.map((each) => ({ value: each, label: each, hint: ADDS[each] }))}
          onChange={onChange}
        />
      )}
    </Field>
  );
}
