import type { AccessToken } from "./stored.ts";

/** Milliseconds that a new tab waits for another one to lend it an access token. A tab that is there answers in one or two. */
const ASK_MS = 150;

type Message = { type: "ask"; userId: string } | { type: "lend"; userId: string; access: AccessToken };

/**
 * Access tokens lent from tab to tab: a sign-in route may be called five times a minute from one address, and ten tabs
 * opened at once must not use that up.
 */
export class Tabs {
  readonly #channel = new BroadcastChannel("taffrail.tabs");

  constructor(lend: (userId: string) => AccessToken | null) {
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      if (data.type !== "ask") return;
      const access = lend(data.userId);
      if (access) this.#post({ type: "lend", userId: data.userId, access });
    });
  }

  /** Another tab's token for the same user, or null if none answers in time. */
  ask(userId: string): Promise<AccessToken | null> {
    return new Promise((resolve) => {
      const done = (access: AccessToken | null): void => {
        clearTimeout(timer);
        this.#channel.removeEventListener("message", listener);
        resolve(access);
      };
      const listener = ({ data }: MessageEvent<Message>): void => {
        if (data.type === "lend" && data.userId === userId && data.access.until > Date.now()) done(data.access);
      };
      const timer = setTimeout(() => done(null), ASK_MS);
      this.#channel.addEventListener("message", listener);
      this.#post({ type: "ask", userId });
    });
  }

  #post(message: Message): void {
    this.#channel.postMessage(message);
  }
}
