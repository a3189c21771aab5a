import { expect, it } from "vitest";
import { linksIn } from "../../../web/src/pages/settings/members/kept-links.ts";

it("finds the link of an invitation by the id of its mail, not by the address, which other workspaces invite, too", () => {
  const mail = { to: "mara@example.com", subject: "", text: "", createdAt: "2026-11-27T10:00:00.000Z" };
  const links = linksIn([
    { ...mail, id: "mail_other", kind: "invite", links: ["https://logs.example/other"] },
    { ...mail, id: "mail_one", kind: "invite", links: ["https://logs.example/one"] },
    { ...mail, id: "mail_notice", kind: "notice", links: ["https://logs.example/notice"] },
    { ...mail, id: "mail_none", kind: "invite", links: [] },
  ]);
  expect([...links]).toEqual([
    ["inv_other", "https://logs.example/other"],
    ["inv_one", "https://logs.example/one"],
  ]);
});
