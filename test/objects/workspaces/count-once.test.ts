import { beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../accounts/support.ts";
import { workspaceStub } from "../accounts/support.ts";
import { by, invite, newMember, newUser, newWorkspace, remove, setRole, type User } from "./support.ts";

let owner: User;
let admin: User;
let workspaceId: string;

beforeAll(async () => {
  owner = await newUser();
  workspaceId = await newWorkspace(owner);
  admin = await newMember(workspaceId, "admin");
});

/** Units that a user has left in a workspace. */
async function leftIn(id: string, { userId }: User): Promise<number> {
  const answer = await workspaceStub(id).rateLimits(userId);
  if (!answer.ok) throw new Error(answer.code);
  return answer.value.live.find(({ identifier }) => identifier === `user:${userId}`)?.remaining ?? 1000;
}

const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

/** Units that a user has left in the user object. Takes one. */
const leftOf = async (user: User) => remaining(await by(user, "/workspaces"));

const refusals: [string, () => { user: User; id: string; refused: () => Promise<Answer>; code: string }][] = [
  [
    "deleting a personal workspace",
    () => {
      const id = owner.workspaceId;
      return {
        user: owner,
        id,
        code: "CONFLICT",
        refused: () => by(owner, `/workspaces/${id}`, { method: "DELETE" }),
      };
    },
  ],
  [
    "another role for the last owner",
    () => {
      const refused = () => setRole(owner, workspaceId, owner.userId, "admin");
      return { user: owner, id: workspaceId, code: "CONFLICT", refused };
    },
  ],
  [
    "the last owner's leaving",
    () => {
      const refused = () => remove(owner, workspaceId, owner.userId);
      return { user: owner, id: workspaceId, code: "CONFLICT", refused };
    },
  ],
  [
    "an admin's invitation of an owner",
    () => {
      const refused = () => invite(admin, workspaceId, "new@example.com", "owner");
      return { user: admin, id: workspaceId, code: "FORBIDDEN", refused };
    },
  ],
  [
    "revoking an unknown invitation",
    () => {
      const path = `/workspaces/${workspaceId}/invitations/inv_000000000000`;
      return {
        user: admin,
        id: workspaceId,
        code: "NOT_FOUND",
        refused: () => by(admin, path, { method: "DELETE" }),
      };
    },
  ],
];

describe("a management request that a rule of the workspace refuses", () => {
  it.each(refusals)("counts once, in the workspace only: %s", async (_, setUp) => {
    const { user, id, code, refused } = setUp();
    const before = { user: await leftOf(user), workspace: await leftIn(id, user) };
    const answer = await refused();
    expect(answer.code).toBe(code);
    expect(before.workspace - (await leftIn(id, user))).toBe(1);
    expect(remaining(answer)).toBe(before.workspace - 1);
    expect(before.user - (await leftOf(user))).toBe(1);
  });
});
