/** Asks whether to leave, and leaves if the answer is yes. */
type Question = (leave: () => void) => void;

/** The question of a page where leaving would lose something. In the first files, which leave pages; `ui/leave-guard.tsx` asks. */
let question: Question | null = null;
/** Returns the address of that page. */
let addressOf: () => string = () => location.href;

/** Makes a page ask. @returns a function that ends it */
export function guardLeaving(ask: Question, address: () => string): () => void {
  question = ask;
  addressOf = address;
  return () => {
    if (question === ask) question = null;
  };
}

// Registered before the router's listener: browsers call those of the window in this order, also the capturing ones.
addEventListener("popstate", (event) => {
  if (question === null || isHere(addressOf())) return;
  event.stopImmediatePropagation();
  history.pushState(null, "", addressOf());
  question(() => history.back());
});

/** Whether leaving the page would lose something. */
export function isGuarded(): boolean {
  return question !== null;
}

/** Call before a page is left by the action that its user has just confirmed. */
export function leaveFreely(): void {
  question = null;
}

/** Leaves, after the question if there is one. */
export function askToLeave(leave: () => void): void {
  if (question === null) leave();
  else question(leave);
}

/** Whether an address is one of the page: a page that only changes its query is not left. */
export function isHere(url: string): boolean {
  return new URL(url, location.href).pathname === location.pathname;
}
