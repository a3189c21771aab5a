import { afterEach, beforeEach, expect, it, vi } from "vitest";

type Leaving = typeof import("../../../web/src/lib/leaving.ts");

let leaving: Leaving;
/** What was asked, by which page. */
let asked: string[];

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", () => undefined);
  vi.resetModules();
  leaving = await import("../../../web/src/lib/leaving.ts");
  asked = [];
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const guard = (name: string): (() => void) =>
  leaving.guardLeaving(
    () => asked.push(name),
    () => "/board",
  );

it("a page that is still there after a leave asks again", () => {
  guard("board");
  const left: string[] = [];
  leaving.leaveFreely(() => leaving.askToLeave(() => left.push("by the action")));
  expect(left).toEqual(["by the action"]);
  // The history and the browser leave a little later.
  expect(leaving.isGuarded()).toBe(false);
  vi.advanceTimersByTime(2000);
  leaving.askToLeave(() => left.push("unasked"));
  expect([left, asked]).toEqual([["by the action"], ["board"]]);
});

it("a dialog asks in place of its page, which asks again as soon as the dialog was left", () => {
  guard("board");
  const endOfDialog = guard("panel");
  leaving.askToLeave(() => undefined);
  leaving.leaveFreely(endOfDialog);
  leaving.askToLeave(() => undefined);
  expect(asked).toEqual(["panel", "board"]);
});
