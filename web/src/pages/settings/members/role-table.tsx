import { type Action, may } from "../../../../../src/workspace/permissions.ts";
import { ROLES, type Role } from "../../../model/types.ts";
import { Card } from "../../../ui/page.tsx";
import { ScrollBox } from "../../../ui/scroll-box.tsx";
import css from "./members.module.css";

const PERMISSIONS: readonly (readonly [label: string, action: Action])[] = [
  ["Read logs, projects, settings, usage", "logs.read"],
  ["Leave the workspace", "member.leave"],
  ["Create, rename and delete projects", "project.delete"],
  ["Create, rotate and revoke API keys", "key.create"],
  ["Change limits", "limits.set"],
  ["Change name and retention", "workspace.update"],
  ["Invite, change roles, remove members", "member.change"],
  // Only owners can manage owners, and only owners can delete the workspace: both have the same action here.
  ["Add, change and remove owners", "workspace.delete"],
  ["Delete the workspace", "workspace.delete"],
];

const RISING: readonly Role[] = [...ROLES].reverse();

/** Permissions of each role, from the permissions table of the service. */
export function RoleTable({ own }: { own: Role }) {
  return (
    <Card title="Roles">
      <ScrollBox label="Permissions by role">
        <table class={css.roles}>
          <thead>
            <tr>
              <th scope="col">Permission</th>
              {RISING.map((role) => (
                <th key={role} scope="col">
                  {role}
                  {role === own ? <div class={css.you}>(you)</div> : null}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {PERMISSIONS.map(([label, action]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {RISING.map((role) => (
                  <td key={role}>
                    <span aria-hidden="true">{may(role, action) ? "✓" : "–"}</span>
                    <span class="visually-hidden">{may(role, action) ? "yes" : "no"}</span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Card>
  );
}
