import { describe, expect, it } from "vitest";
import type { AuditItem } from "../../../web/src/model/types.ts";
import { revokersOf } from "../../../web/src/pages/settings/keys/revocations.ts";

const AT = "2026-11-27T10:00:00.000Z";
const LATER = "2026-11-27T10:00:00.001Z";

function item(change: Partial<AuditItem>): AuditItem {
  return {
    ...{ id: "aud_1", at: AT, actor: "usr_ada", actorEmail: "ada@example.com", action: "key.revoke" },
    ...{ target: "key_1", targetEmail: null, address: null, requestId: "req_1" },
    ...change,
  };
}

function revoker(change: Partial<AuditItem>, revokedAt: string | null = AT): string | undefined {
  return revokersOf([{ id: "key_1", revokedAt }], [item(change)]).get("key_1");
}

describe("19: who revoked a key", () => {
  it("is the actor of the key's own item, whatever its time", () => {
    expect(revoker({ at: "2026-11-27T10:05:00.000Z" })).toBe("ada@example.com");
    expect(revoker({ actorEmail: null })).toBe("usr_ada");
    expect(revoker({ target: "key_2" })).toBe(undefined);
    expect(revoker({ action: "key.rotate" })).toBe(undefined);
    expect(revoker({}, null)).toBe(undefined);
  });

  it("is found by the time of a change that revoked the keys of a member", () => {
    const removal = { action: "member.remove", target: "usr_bob", targetEmail: "bob@example.com", at: LATER };
    expect(revoker({ ...removal, after: { keysRevoked: 2 } })).toBe(
      "ada@example.com (member removed: bob@example.com)",
    );
    expect(revoker(removal)).toBe(undefined);
    expect(revoker({ ...removal, after: { keysRevoked: 2 }, at: "2026-11-27T10:00:02.000Z" })).toBe(undefined);
    expect(revoker({ ...removal, after: { keysRevoked: 2 }, at: "2026-11-27T09:59:59.999Z" })).toBe(undefined);
    const purge = { ...removal, action: "key.revoke", actor: "system", actorEmail: null, after: { keysRevoked: 1 } };
    expect(revoker(purge)).toBe("the service (account secured: bob@example.com)");
  });
});
