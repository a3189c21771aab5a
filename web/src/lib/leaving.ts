/** Asks whether to leave, and leaves if the answer is yes. */
type Question = (leave: () => void) => void;

interface Guard {
  ask: Question;
  /** Returns the address of the page. */
  address: () => string;
}

/** Milliseconds after which a page that is still there was not left. A leave through the history or the browser ends after its call. */
const UNDER_WAY_MS = 2000;

/**
 * What asks where leaving would lose something: a page, then a dialog over it. The last one asks first.
 * In the first files, which leave pages; `ui/leave-guard.tsx` asks.
 */
let guards: readonly Guard[] = [];
/** Those whose answer was to leave, while the leave is under way. */
let passed: readonly Guard[] = [];
let underWay: ReturnType<typeof setTimeout> | undefined;

/** The part of a page that asks. */
export interface Guarded {
  /** Leaves once the user has confirmed it. What was opened before this part asks for itself. */
  leave: (leave: () => void) => void;
  end: () => void;
}

/** Makes a page, or a dialog of it, ask. */
export function guardLeaving(ask: Question, address: () => string): Guarded {
  const guard = { ask, address };
  guards = [...guards, guard];
  arrive();
  return {
    leave: (leave) => pass(guards.slice(guards.indexOf(guard)), leave),
    end: () => {
      guards = guards.filter((each) => each !== guard);
      arrive();
    },
  };
}

// Registered before the router's listener: browsers call those of the window in this order, also the capturing ones.
addEventListener("popstate", (event) => {
  const guard = asking();
  if (guard === null || isHere(guard.address())) return;
  event.stopImmediatePropagation();
  history.pushState(null, "", guard.address());
  guard.ask(() => history.back());
});

/** Whether leaving the page would lose something. */
export function isGuarded(): boolean {
  return asking() !== null;
}

/** Leaves by an action that the user has just confirmed for the whole page. */
export function leaveFreely(leave: () => void): void {
  pass(guards, leave);
}

/** Leaves the page, after the questions if there are any. */
export function askToLeave(leave: () => void): void {
  const guard = asking();
  if (guard === null) leave();
  else guard.ask(() => askToLeave(leave));
}

/** Closes the part of the page that was opened last, after its question if it has one. */
export function askToClose(close: () => void): void {
  const guard = asking();
  if (guard === null) close();
  else guard.ask(close);
}

/** A page that is still there a moment later was not left, and asks again. */
function pass(past: readonly Guard[], leave: () => void): void {
  clearTimeout(underWay);
  passed = past;
  underWay = setTimeout(arrive, UNDER_WAY_MS);
  leave();
}

function arrive(): void {
  clearTimeout(underWay);
  passed = [];
}

/** Whether an address is one of the page: a page that only changes its query is not left. */
export function isHere(url: string): boolean {
  return new URL(url, location.href).pathname === location.pathname;
}

function asking(): Guard | null {
  return guards.filter((guard) => !passed.includes(guard)).at(-1) ?? null;
}
