import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

type Leaving = typeof import("../../../web/src/lib/leaving.ts");

let leaving: Leaving;
/** The listener of the way back in the history. */
let onPopState: (event: Pick<Event, "stopImmediatePropagation">) => void;
/** What was asked, by which page. */
let asked: string[];
let ends: (() => void)[];

beforeAll(async () => {
  vi.stubGlobal("addEventListener", (_: string, listener: typeof onPopState) => {
    onPopState = listener;
  });
  leaving = await import("../../../web/src/lib/leaving.ts");
});

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  ends = [];
});

afterEach(() => {
  for (const end of ends) end();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A part of a page whose user answers each question at once with yes. */
const guard = (name: string, isConfirmed = false) => {
  const own = leaving.guardLeaving(
    (leave) => {
      asked.push(name);
      if (isConfirmed) own.leave(leave);
    },
    () => "/board",
  );
  ends.push(own.end);
  return own;
};

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

it("a dialog asks before its page, which asks again as soon as the dialog was closed", () => {
  guard("board");
  const panel = guard("panel");
  leaving.askToClose(() => undefined);
  panel.leave(panel.end);
  leaving.askToLeave(() => undefined);
  expect(asked).toEqual(["panel", "board"]);
});

it("closing a dialog asks nothing about its page, and leaving the page asks about both", () => {
  guard("board", true);
  guard("panel", true);
  const done: string[] = [];
  leaving.askToClose(() => done.push("closed"));
  expect([asked, done]).toEqual([["panel"], ["closed"]]);
  vi.advanceTimersByTime(2000);
  leaving.askToLeave(() => done.push("left"));
  expect([asked, done]).toEqual([
    ["panel", "panel", "board"],
    ["closed", "left"],
  ]);
});

it("the way back in the history asks about a dialog and its page, and then goes", () => {
  guard("board", true);
  guard("panel", true);
  vi.stubGlobal("location", { href: "https://logs.example.com/elsewhere", pathname: "/elsewhere" });
  let stopped = 0;
  let steps = 0;
  const back = (): void => {
    steps++;
    onPopState({ stopImmediatePropagation: () => stopped++ });
  };
  vi.stubGlobal("history", { pushState: () => undefined, back });
  back();
  expect(asked).toEqual(["panel", "board"]);
  // The last step is the router's.
  expect([steps, stopped]).toEqual([3, 2]);
});
