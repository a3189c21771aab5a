import { type Action, may } from "../../../../../src/workspace/permissions.ts";
import { ROLES, type Role } from "../../../model/types.ts";
import { Card } from "../../../ui/page.tsx";
import { ScrollBox } from "../../../ui/scroll-box.tsx";
import css from "./members.module.css";

const PERMISSIONS: readonly (readonly [label: string, action: Action])[] = [
  ["Read and export logs; read boards, views, alerts, settings and usage", "logs.read"],
  ["Let agents act for oneself, within the own role", "grant.create"],
  ["Leave the workspace", "member.leave"],
  ["Create, change and delete boards and saved views", "board.update"],
  ["Create, change, mute and delete alerts", "alert.update"],
  ["Test destinations, deliver notifications again", "delivery.redeliver"],
  ["Create, rename and delete projects", "project.delete"],
  ["Create, rotate and delete API keys", "key.create"],
  ["Create, change and delete destinations", "destination.update"],
  ["Change limits", "limits.set"],
  ["Change name and retention", "workspace.update"],
  ["Invite, change roles, remove members, end their agents' access", "member.change"],
  ["Read the audit", "audit.list"],
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
