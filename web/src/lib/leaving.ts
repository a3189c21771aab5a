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
 * What asks where leaving would lose something: a page, and behind it a dialog of the page. The last one asks.
 * In the first files, which leave pages; `ui/leave-guard.tsx` asks.
 */
let guards: readonly Guard[] = [];
/** Ends the leave that is under way; `null` if none is. */
let arrive: (() => void) | null = null;

/** Makes a page ask. @returns a function that ends it */
export function guardLeaving(ask: Question, address: () => string): () => void {
  const guard = { ask, address };
  guards = [...guards, guard];
  arrive?.();
  return () => {
    guards = guards.filter((each) => each !== guard);
    arrive?.();
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

/** Leaves by an action that the user has just confirmed. A page that is still there a moment later asks again. */
export function leaveFreely(leave: () => void): void {
  arrive?.();
  const timer = setTimeout(() => arrive?.(), UNDER_WAY_MS);
  arrive = () => {
    clearTimeout(timer);
    arrive = null;
  };
  leave();
}

/** Leaves, after the question if there is one. */
export function askToLeave(leave: () => void): void {
  const guard = asking();
  if (guard === null) leave();
  else guard.ask(leave);
}

/** Whether an address is one of the page: a page that only changes its query is not left. */
export function isHere(url: string): boolean {
  return new URL(url, location.href).pathname === location.pathname;
}

function asking(): Guard | null {
  return arrive === null ? (guards.at(-1) ?? null) : null;
}
