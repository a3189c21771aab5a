import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useLoad } from "../../../lib/load.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { Member, Workspace } from "../../../model/types.ts";
import { allOf, dropWorkspace, loadWorkspaces } from "../../../model/workspaces.ts";
import { authorized, user } from "../../../session/session.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Card } from "../../../ui/page.tsx";
import { Failure, Loading } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { RoleNote, Section } from "../section.tsx";
import { ChangeRole } from "./change-role.tsx";
import { Invitations } from "./invitations.tsx";
import { MemberList } from "./member-list.tsx";
import { RoleTable } from "./role-table.tsx";

const NOTE = "members-note";

export function Members({ workspace }: { workspace: Workspace }) {
  const { route } = useLocation();
  const path = `/workspaces/${workspace.id}/members`;
  const members = useLoad(path, (signal) => allOf<Member>(path, undefined, signal));
  const [asked, setAsked] = useState<{ kind: "role" | "remove"; member: Member } | null>(null);
  const reason = reasonAgainst(workspace.role, "member.change");
  const myId = user.value?.id ?? null;
  const close = (): void => setAsked(null);
  return (
    <Section title="Members" intro="Users with access to this workspace, and their roles.">
      <RoleNote id={NOTE} reason={reason} />
      {members.failure ? <Failure failure={members.failure} onRetry={members.reload} /> : null}
      {members.data === null ? (
        members.failure ? null : (
          <Loading />
        )
      ) : (
        <Card>
          <MemberList
            members={members.data}
            own={{ id: myId, role: workspace.role }}
            isPersonal={workspace.personal}
            onRole={(member) => setAsked({ kind: "role", member })}
            onRemove={(member) => setAsked({ kind: "remove", member })}
          />
        </Card>
      )}
      <Invitations workspace={workspace} />
      <RoleTable own={workspace.role} />
      {asked?.kind === "role" ? (
        <ChangeRole
          path={path}
          // A change may be loaded only now.
          member={members.data?.find(({ userId }) => userId === asked.member.userId) ?? asked.member}
          own={workspace.role}
          isSelf={asked.member.userId === myId}
          onChanged={() => {
            close();
            members.reload();
            if (asked.member.userId === myId) void loadWorkspaces();
          }}
          onClose={close}
        />
      ) : null}
      {asked?.kind === "remove" ? (
        <RemoveMember
          workspace={workspace}
          member={asked.member}
          isSelf={asked.member.userId === myId}
          onGone={() => {
            close();
            if (asked.member.userId === myId) {
              route("/");
              dropWorkspace(workspace.id);
            } else members.reload();
          }}
          onClose={close}
        />
      ) : null}
    </Section>
  );
}

interface RemoveMemberProps {
  workspace: Workspace;
  member: Member;
  isSelf: boolean;
  onGone: () => void;
  onClose: () => void;
}

function RemoveMember({ workspace, member, isSelf, onGone, onClose }: RemoveMemberProps) {
  const name = member.email ?? member.userId;
  return (
    <Confirm
      title={isSelf ? `Leave ${workspace.name}?` : `Remove ${name}?`}
      action={isSelf ? "Leave" : "Remove"}
      onConfirm={async () => {
        await authorized(`/workspaces/${workspace.id}/members/${member.userId}`, { method: "DELETE" });
        toast(isSelf ? `You left ${workspace.name}.` : `Removed ${name}.`);
        onGone();
      }}
      onClose={onClose}
    >
      <p>
        {isSelf ? "You lose" : `${name} loses`} access immediately. API keys and invitations that{" "}
        {isSelf ? "you" : "they"} created here stop working.
      </p>
    </Confirm>
  );
}
