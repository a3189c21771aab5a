import type { AccessToken } from "./stored.ts";

/**
 * Milliseconds that a tab waits for one that has a token to lend. It answers in one or two, unless it is still busy drawing
 * itself, as the first of ten tabs that open at once is.
 */
const LENT_WITHIN_MS = 3000;

/** Beginning of the names of the locks that say who has a token to lend. */
const LENDER = "taffrail.lender";

type Message =
  /** `refused`: a token that the service does not take any more. */
  | { type: "ask"; id: string; session: string; refused: string | null }
  /** Null: only the refused one. */
  | { type: "lend"; id: string; access: AccessToken | null };

/**
 * Access tokens lent from tab to tab: a sign-in route may be called five times a minute from one address, and ten tabs
 * opened at once must not use that up. A tab that has a token holds a lock named after it, so that whoever needs one knows
 * whether there is anybody to wait for.
 */
export class Tabs {
  readonly #channel = new BroadcastChannel("taffrail.tabs");
  /** This tab's part of the names of its locks. */
  readonly #self = crypto.randomUUID();
  #offered: AccessToken | null = null;
  #withdraw: (() => void) | null = null;

  constructor() {
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      // Who has nothing to lend is not waited for, and says nothing.
      if (data.type !== "ask" || this.#offered?.session !== data.session) return;
      const access = this.#offered.token === data.refused ? null : this.#offered;
      this.#post({ type: "lend", id: data.id, access });
    });
  }

  /** Tells the other tabs what this one has to lend from now on; null: nothing. */
  offer(access: AccessToken | null): void {
    this.#withdraw?.();
    this.#withdraw = null;
    this.#offered = access;
    if (access === null) return;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#withdraw = resolve;
    // Held no longer than it is of use: a tab that holds a lock is never put to sleep.
    setTimeout(resolve, access.until - Date.now());
    void navigator.locks.request(lenderName(access, this.#self), { mode: "shared" }, () => over);
  }

  /** Another tab's token of a session; null if no other tab has one. */
  async ask(session: string, refused: string | null): Promise<AccessToken | null> {
    const lenders = await this.#lenders(session);
    if (lenders === 0) return null;
    const id = crypto.randomUUID();
    return new Promise((resolve) => {
      let silent = lenders;
      const done = (access: AccessToken | null): void => {
        clearTimeout(timer);
        this.#channel.removeEventListener("message", listener);
        resolve(access);
      };
      const listener = ({ data }: MessageEvent<Message>): void => {
        if (data.type !== "lend" || data.id !== id) return;
        if (data.access !== null && data.access.until > Date.now()) done(data.access);
        else if (--silent === 0) done(null);
      };
      const timer = setTimeout(() => done(null), LENT_WITHIN_MS);
      this.#channel.addEventListener("message", listener);
      this.#post({ type: "ask", id, session, refused });
    });
  }

  /** How many other tabs say that they have a token of this session. */
  async #lenders(session: string): Promise<number> {
    const { held = [] } = await navigator.locks.query();
    const now = Date.now();
    return held.filter(({ name = "" }) => {
      const [kind, ofSession, until, tab] = name.split(":");
      return kind === LENDER && ofSession === session && Number(until) > now && tab !== this.#self;
    }).length;
  }

  #post(message: Message): void {
    this.#channel.postMessage(message);
  }
}

function lenderName({ session, until }: AccessToken, tab: string): string {
  return [LENDER, session, until, tab].join(":");
}
