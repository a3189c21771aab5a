import { mayAssign } from "../../../../../src/workspace/permissions.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { Member, Role } from "../../../model/types.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Item, Items } from "../../../ui/items.tsx";
import { Time } from "../../../ui/time.tsx";

interface MemberListProps {
  members: readonly Member[];
  own: { id: string | null; role: Role };
  isPersonal: boolean;
  onRole: (member: Member) => void;
  onRemove: (member: Member) => void;
}

export function MemberList({ members, own, isPersonal, onRole, onRemove }: MemberListProps) {
  return (
    <Items label="Members">
      {members.map((member) => {
        const isSelf = member.userId === own.id;
        const name = member.email ?? "Deleted account";
        const reason = reasonFor(member, own.role);
        // The owner of a personal workspace can neither leave nor change role.
        const isBound = isPersonal && isSelf && member.role === "owner";
        return (
          <Item
            key={member.userId}
            title={
              <>
                {name}
                <Badge>{member.role}</Badge>
                {isSelf ? <Badge>you</Badge> : null}
              </>
            }
            facts={[["Since", <Time at={member.joinedAt} />]]}
            actions={
              isBound ? null : (
                <>
                  <Button small disabled={reason !== null} title={reason ?? undefined} onClick={() => onRole(member)}>
                    Change role<span class="visually-hidden"> of {name}</span>
                  </Button>
                  <Button
                    small
                    look="danger"
                    disabled={!isSelf && reason !== null}
                    title={isSelf ? undefined : (reason ?? undefined)}
                    onClick={() => onRemove(member)}
                  >
                    {isSelf ? "Leave" : "Remove"}
                    <span class="visually-hidden"> {isSelf ? "the workspace" : name}</span>
                  </Button>
                </>
              )
            }
          >
            {isBound ? <span>You cannot leave your personal workspace.</span> : null}
          </Item>
        );
      })}
    </Items>
  );
}

function reasonFor(member: Member, own: Role): string | null {
  const reason = reasonAgainst(own, "member.change");
  if (reason !== null || mayAssign(own, member.role)) return reason;
  return "Only an owner can change or remove an owner.";
}
