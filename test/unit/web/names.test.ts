import { describe, expect, it } from "vitest";
import { namesOf } from "../../../web/src/pages/settings/audit/names.ts";
import { differences, kindBeside } from "../../../web/src/pages/settings/audit/words.ts";
import { matching } from "../../../web/src/ui/palette/commands.ts";

const ITEM = {
  id: "1",
  at: "2026-11-27T08:00:00.000Z",
  actor: "usr_1",
  actorEmail: "owner@example.com",
  targetEmail: null,
  address: null,
  requestId: "req_1",
};

describe("names of the audit", () => {
  const items = [
    { ...ITEM, action: "key.revoke", target: "key_1" },
    { ...ITEM, action: "key.update", target: "key_1", before: { name: "import" }, after: { name: "nightly import" } },
    { ...ITEM, action: "key.create", target: "key_1", after: { name: "import" } },
    { ...ITEM, action: "key.create", target: "key_2", after: { name: "web" } },
  ];

  it("are found with all items of their target, also with those that have none", () => {
    const names = namesOf(items);
    expect(names.get("key_1")).toBe("nightly import");
    expect(names.get("key_2")).toBe("web");
  });

  it("give way to the kind of the target where neither they nor the action say it", () => {
    expect(kindBeside("session.start", "fam_1")).toBe("session");
    expect(kindBeside("agent.call", "grant_1")).toBe("grant");
    expect(kindBeside("key.revoke", "key_1")).toBe(null);
    expect(kindBeside("invitation.revoke", "inv_1")).toBe(null);
    expect(kindBeside("cup.create", "cup_1")).toBe(null);
  });
});

it("has panels that changed although their number did not", () => {
  expect(differences({ before: { panels: 5 }, after: { panels: 5 } })).toEqual([
    { name: "panels", before: "5", after: "5" },
  ]);
});

it("has no list that is the same before and after", () => {
  const rule = { method: "*", path: "/logger/**", limit: 5, windowSeconds: 1 };
  const limit = { limit: 1200, windowSeconds: 60 };
  expect(differences({ before: { default: null, rules: [] }, after: { default: limit, rules: [] } })).toEqual([
    { name: "default limit", before: "none", after: "1200 in 60 s" },
  ]);
  expect(differences({ before: { rules: [rule] }, after: { rules: [{ ...rule }] } })).toEqual([]);
  expect(differences({ before: { rules: [] }, after: { rules: [rule] } })).toEqual([
    { name: "rules", before: "none", after: "any method /logger/**: 5 in 1 s" },
  ]);
});

it("finds commands by words that they do not show", () => {
  const commands = [
    { label: "Settings: Members", words: "invite", group: "Go to", run: () => undefined },
    { label: "Logs", group: "Go to", run: () => undefined },
  ];
  expect(matching(commands, "Invi").map(({ label }) => label)).toEqual(["Settings: Members"]);
});
