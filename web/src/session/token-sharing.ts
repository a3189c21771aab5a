import type { AccessToken } from "./storage.ts";

/**
 * Milliseconds to wait for another tab's access token. A tab takes a few, unless it is still rendering, as the first of
 * ten tabs opened at once.
 */
const LENT_WITHIN_MS = 3000;

/** Prefix of the names of locks that mark tabs with an access token. */
const LENDER = "taffrail.lender";

type Message =
  /** `refused`: a token that the service no longer accepts. */
  | { type: "ask"; id: string; session: string; refused: string | null }
  /** `null` if the tab has only the refused token. */
  | { type: "lend"; id: string; access: AccessToken | null };

/**
 * Shares access tokens between tabs, because ten tabs opened at once must not use up the limit of 5 requests a minute
 * on `/auth`. A tab with a token holds a lock named after it, so that other tabs can tell whether to wait.
 */
export class TokenSharing {
  readonly #channel = new BroadcastChannel("taffrail.tabs");
  /** This tab's part of the names of its locks. */
  readonly #self = crypto.randomUUID();
  #offered: AccessToken | null = null;
  #withdraw: (() => void) | null = null;

  constructor() {
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      // A tab without a token is not waited for and does not answer.
      if (data.type !== "ask" || this.#offered?.session !== data.session) return;
      const access = this.#offered.token === data.refused ? null : this.#offered;
      this.#post({ type: "lend", id: data.id, access });
    });
  }

  /** Offers an access token to the other tabs; `null` withdraws it. */
  offer(access: AccessToken | null): void {
    this.#withdraw?.();
    this.#withdraw = null;
    this.#offered = access;
    if (access === null) return;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#withdraw = resolve;
    // Released on expiry, because the browser never freezes a tab that holds a lock.
    setTimeout(resolve, access.until - Date.now());
    void navigator.locks.request(lenderName(access, this.#self), { mode: "shared" }, () => over);
  }

  /** Requests another tab's token of a session; `null` if no other tab has one. */
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

  /** Number of other tabs that have a token of this session. */
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
