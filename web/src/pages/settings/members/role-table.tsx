import { type Action, may } from "../../../../../src/workspace/permissions.ts";
import { ROLES, type Role } from "../../../model/types.ts";
import { Card } from "../../../ui/page.tsx";
import { Wide } from "../../../ui/wide.tsx";
import css from "./members.module.css";

const DEEDS: readonly (readonly [deed: string, action: Action])[] = [
  ["Read logs, projects, settings, usage", "logs.read"],
  ["Leave the workspace", "member.leave"],
  ["Create, rename and delete projects", "project.delete"],
  ["Create, rotate and revoke API keys", "key.create"],
  ["Change limits", "limits.set"],
  ["Change the name and the retention", "workspace.update"],
  ["Invite, change roles, remove members", "member.change"],
  // Owners are made and removed by their like alone; only they may delete, too.
  ["Make, change and remove owners", "workspace.delete"],
  ["Delete the workspace", "workspace.delete"],
];

const RISING: readonly Role[] = [...ROLES].reverse();

/** What each role may do, by the table that the service itself decides by. */
export function RoleTable({ own }: { own: Role }) {
  return (
    <Card title="What each role may do">
      <Wide label="What each role may do">
        <table class={css.roles}>
          <thead>
            <tr>
              <th scope="col">May</th>
              {RISING.map((role) => (
                <th key={role} scope="col">
                  {role}
                  {role === own ? <div class={css.you}>(you)</div> : null}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {DEEDS.map(([deed, action]) => (
              <tr key={deed}>
                <th scope="row">{deed}</th>
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
      </Wide>
    </Card>
  );
}
