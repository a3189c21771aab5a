import { expect, it } from "vitest";
import { withEntriesFirst } from "../../../web/src/pages/home/entries-first.ts";

it("puts the workspaces with entries before the empty ones, each in the order of the list", () => {
  const listed = ["personal", "shop", "empty", "harbour"].map((id) => ({ id }));
  expect(withEntriesFirst(listed, new Set(["harbour", "shop"]))).toEqual(["shop", "harbour", "personal", "empty"]);
  expect(withEntriesFirst(listed, new Set())).toEqual(["personal", "shop", "empty", "harbour"]);
});
