import { useState } from "preact/hooks";
import { mayAssign } from "../../../../../src/workspace/permissions.ts";
import { useAction } from "../../../lib/action.ts";
import { type Member, ROLES, type Role } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { RoleField } from "./role-field.tsx";

interface ChangeRoleProps {
  path: string;
  member: Member;
  /** The signed-in member's role: the highest role that can be assigned. */
  own: Role;
  isSelf: boolean;
  onChanged: () => void;
  onClose: () => void;
}

export function ChangeRole({ path, member, own, isSelf, onChanged, onClose }: ChangeRoleProps) {
  const [chosen, setChosen] = useState<Role | null>(null);
  const role = chosen ?? member.role;
  const name = member.email ?? member.userId;
  const changing = useAction(async () => {
    await authorized(`${path}/${member.userId}`, { method: "PATCH", body: { role } });
    toast(`${isSelf ? "You are" : `${name} is`} now ${role}.`);
    onChanged();
  });
  const isLess = ROLES.indexOf(role) > ROLES.indexOf(member.role);
  return (
    <Dialog title={`${isSelf ? "Your role" : `Role of ${name}`}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void changing.run();
        }}
      >
        <RoleField role={role} offered={ROLES.filter((each) => mayAssign(own, each))} onChange={setChosen} />
        {isSelf && isLess ? <p>Only another member with your current role can undo this.</p> : null}
        <Problem failure={changing.failure} />
        <Row>
          <Button type="submit" look="primary" busy={changing.busy} disabled={role === member.role}>
            Change role
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
